-- Drops tombstones that are over, writes these, and gives the list a new version, which every replica reads with its
-- lease. The version has random bits: after a failover a counter could come round again.
-- uses: clock
-- KEYS[1] revoked: `<account> <device>` by the time of its revocation
-- KEYS[2] version: `<ms>-<random>`
-- ARGV[1] 32 random bits
-- ARGV[2] ms that a tombstone lasts
-- ARGV[3...] member, ms (0: now), ...
-- RETURNS OK, version, now
local now = now_ms()
-- First: an id that was signed out long ago, and now again, gets the new time.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', int(now - tonumber(ARGV[2])))
for i = 3, #ARGV, 2 do
  local at = ARGV[i + 1] == '0' and int(now) or ARGV[i + 1]
  redis.call('ZADD', KEYS[1], 'NX', at, ARGV[i])
end
local last = tonumber(string.match(redis.call('GET', KEYS[2]) or '0', '^%d+'))
local version = int(math.max(now, last + 1)) .. '-' .. ARGV[1]
redis.call('SET', KEYS[2], version)
return { 'OK', version, int(now) }
