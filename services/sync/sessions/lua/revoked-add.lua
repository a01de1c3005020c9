-- Drops expired tombstones, writes these, and gives the list a new version, which every replica reads when it renews its
-- lease. The version has random bits, because after a failover a counter could repeat.
-- Keys and arguments: revokedAdd in scripts.ts.
-- uses: clock
-- RETURNS OK, version, now
local now = now_ms()
-- Expired ones are dropped first, so that an id that was signed out long ago, and now again, gets the new time.
redis.call('ZREMRANGEBYSCORE', keys.revoked, '-inf', int(now - TOMBSTONE_MS))
for i = 1, #tombstones, 2 do
  local at = tombstones[i + 1] == '0' and int(now) or tombstones[i + 1]
  redis.call('ZADD', keys.revoked, 'NX', at, tombstones[i])
end
local last = tonumber(string.match(redis.call('GET', keys.version) or '0', '^%d+'))
local next_version = int(math.max(now, last + 1)) .. '-' .. random
redis.call('SET', keys.version, next_version)
return { 'OK', next_version, int(now) }
