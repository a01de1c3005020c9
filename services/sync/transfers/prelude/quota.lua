-- The limit of an account on records of transfers. In `{u}:transfers` a live transfer is `<id>:<bytes>:<scope>` with
-- score 0, and an ended one is `<id>` with the time of its end as score.
local LISTED_SECONDS = 604800
-- Number of ended transfers that are removed at a time.
local EVICTED = 8

-- Returns the share of live transfers: of all, and of guests, each { count, bytes }.
local function live_share(key)
  local all, guests = { 0, 0 }, { 0, 0 }
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, 0, 0)) do
    local bytes, scope = string.match(member, ':(%d+):(%a+)$')
    all[1], all[2] = all[1] + 1, all[2] + bytes
    if scope == 'guest' then guests[1], guests[2] = guests[1] + 1, guests[2] + bytes end
  end
  return all, guests
end

-- Returns the oldest ended transfers, to be removed when there are `most` records; nil when there are fewer, or none
-- has ended.
local function surplus_transfers(keys, most)
  if redis.call('ZCARD', keys.transfers) < most then return nil end
  local ids = redis.call('ZRANGEBYSCORE', keys.transfers, '(0', '+inf', 'LIMIT', 0, EVICTED)
  return ids[1] and ids or nil
end
