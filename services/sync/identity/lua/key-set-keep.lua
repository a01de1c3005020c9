-- Keeps the key set that was fetched last. A set that was requested earlier and arrives late brings back no withdrawn key.
-- Keys and arguments: keySetKeep in scripts.ts.
-- uses: clock
-- RETURNS OK
local known, at = tonumber(redis.call('HGET', keys.key_set, 'at') or '0'), tonumber(at_ms)
-- A time in the future comes from another clock, and must not stay in force until then.
if known > at and known <= now_ms() + 60000 then return { 'OK' } end
redis.call('HSET', keys.key_set, 'at', at_ms, 'sealed', sealed)
redis.call('PEXPIRE', keys.key_set, KEEP_MS)
return { 'OK' }
