-- One of the account's places for files that hold bytes in the relay.
-- uses: clock
-- KEYS[1] files of the account that hold bytes
-- KEYS[2] files of the account that are kept without a place, which this one is no longer
-- ARGV[1] file
-- ARGV[2] places
-- ARGV[3] ms after which the place is free again
-- RETURNS OK, '1' | '0': it had one already
--         | relay_busy
local now = now_ms()
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', int(now))
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not known and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return { 'relay_busy' } end
redis.call('ZADD', KEYS[1], int(now + ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if known then return { 'OK', '0' } end
for _, kept in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if string.match(kept, '^(.*)/') == ARGV[1] then redis.call('ZREM', KEYS[2], kept) end
end
return { 'OK', '1' }
