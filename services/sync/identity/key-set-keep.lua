-- Keeps the key set that was fetched last: one that was asked for earlier, and came late, brings back no withdrawn key.
-- uses: clock
-- KEYS[1] key set
-- ARGV[1] ms of the store's clock before it was fetched
-- ARGV[2] the sealed set
-- ARGV[3] ms that it is kept
-- RETURNS OK, '1' | '0' when a later one is there
local known, at = tonumber(redis.call('HGET', KEYS[1], 'at') or '0'), tonumber(ARGV[1])
-- A time that has yet to come was told by another clock, and must not be in force until then.
if known > at and known <= now_ms() + 60000 then return { 'OK', '0' } end
redis.call('HSET', KEYS[1], 'at', ARGV[1], 'sealed', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'OK', '1' }
