-- Keeps the key set that was fetched last: one that was asked for earlier, and came late, brings back no withdrawn key.
-- Keys and arguments: keySetKeep in scripts.ts.
-- uses: clock
-- RETURNS OK, '1' | '0' when a later one is there
local known, at = tonumber(redis.call('HGET', keys.key_set, 'at') or '0'), tonumber(at_ms)
-- A time that has yet to come was told by another clock, and must not be in force until then.
if known > at and known <= now_ms() + 60000 then return { 'OK', '0' } end
redis.call('HSET', keys.key_set, 'at', at_ms, 'sealed', sealed)
redis.call('PEXPIRE', keys.key_set, KEEP_MS)
return { 'OK', '1' }
