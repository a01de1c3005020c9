-- How much an account may hold in records of transfers. `{u}:transfers`: a live one is `<id>:<bytes>:<scope>` with score 0,
-- an ended one `<id>` with the time of its end.
local QUOTA_SECONDS = 604800
-- So many ended ones make room at a time.
local EVICTED = 8

-- What is live: { all = { count, bytes }, guest = { count, bytes } }. One that a replica of an earlier version has ended
-- is not, and counts as ended from now on.
local function live_share(keys, now)
  local share = { all = { 0, 0 }, guest = { 0, 0 } }
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', keys.transfers, 0, 0)) do
    local id, bytes, scope = string.match(member, '^(.-):(%d+):(%a+)$')
    if redis.call('ZSCORE', keys.inbox, '!live:' .. id) then
      for _, part in ipairs({ share.all, scope == 'guest' and share.guest or {} }) do
        part[1], part[2] = (part[1] or 0) + 1, (part[2] or 0) + bytes
      end
    else
      redis.call('ZREM', keys.transfers, member)
      redis.call('ZADD', keys.transfers, now, id)
    end
  end
  -- Those that a replica of an earlier version has taken are here alone.
  share.all[1] = math.max(share.all[1], redis.call('ZLEXCOUNT', keys.inbox, '[!live:', '(!live;'))
  return share
end

-- The oldest ended ones, to be removed when there are `most` records; nil when there are fewer, or none has ended.
local function surplus_transfers(keys, most)
  if redis.call('ZCARD', keys.transfers) < most then return nil end
  local ids = redis.call('ZRANGEBYSCORE', keys.transfers, '(0', '+inf', 'LIMIT', 0, EVICTED)
  return ids[1] and ids or nil
end
