-- Takes or renews the reservation of a file among those of the account that hold bytes.
-- Keys and arguments: relayReserve in scripts.ts.
-- uses: clock
-- RETURNS OK, '1' | '0' (it had one already)
--         | relay_busy
local now = now_ms()
redis.call('ZREMRANGEBYSCORE', keys.files, '-inf', int(now))
local known = redis.call('ZSCORE', keys.files, file)
if not known and redis.call('ZCARD', keys.files) >= LIMITS.relayFiles then return { 'relay_busy' } end
redis.call('ZADD', keys.files, int(now + IDLE_MS), file)
redis.call('PEXPIRE', keys.files, IDLE_MS)
if known then return { 'OK', '0' } end
for _, kept in ipairs(redis.call('ZRANGE', keys.kept, 0, -1)) do
  if string.match(kept, '^(.*)/') == file then redis.call('ZREM', keys.kept, kept) end
end
return { 'OK', '1' }
