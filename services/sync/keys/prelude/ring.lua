-- Reads and changes the keyring of an account, a hash:
-- `n`, `hash`: the number of the ring in force, and the SHA-256 of its bytes; `first`: the number of the oldest kept ring;
-- `bytes`: the size of all kept rings; `<number>`: a ring as it was sent; `guests`: the list of guests as it was sent;
-- `deletion:<what>`: the time of an announced removal.
local DELETIONS = { 'keys', 'account' }

local function announce_keys(keys, now, random, n)
  append_and_notify(keys, routes_to_notify(keys.routes, now), now, random, 'keys', '*', '{"n":' .. int(n) .. '}')
end

-- Returns the number of the ring in force (0 without one), and whether the caller checked a signature with that ring.
local function ring_in_force(keys, hash)
  local stored = redis.call('HMGET', keys.keyring, 'n', 'hash')
  return tonumber(stored[1] or '0'), (stored[2] or '') == hash
end

-- RETURNS whether there was an announcement.
local function cancel_deletions(keys)
  local cancelled = 0
  for _, what in ipairs(DELETIONS) do
    cancelled = cancelled + redis.call('HDEL', keys.keyring, 'deletion:' .. what)
    redis.call('ZREM', keys.due, 'keys:' .. what)
  end
  return cancelled > 0
end
