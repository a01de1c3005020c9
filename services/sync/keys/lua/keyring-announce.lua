-- Announces that the rings, or the account, will be removed without a signature. An earlier announcement keeps its time.
-- Keys and arguments: keyringAnnounce in scripts.ts.
-- uses: clock routes log keys/ring
-- RETURNS OK, ms at which the account is removed; '': there are no rings
local now, field = now_ms(), 'deletion:' .. what
local stored = redis.call('HMGET', keys.keyring, 'n', field)
if not stored[1] then return { 'OK', '' } end
if stored[2] then
  RECALLED = true
  return { 'OK', stored[2] }
end
local at = int(now + LIMITS.deletionSeconds * 1000)
redis.call('HSET', keys.keyring, field, at)
redis.call('ZADD', keys.due, at, 'keys:' .. what)
announce_keys(keys, now, random, tonumber(stored[1]))
return { 'OK', at }
