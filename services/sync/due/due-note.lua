-- Notes in the index that an account has something due. Called BEFORE the account's script writes the fact.
-- KEYS[1] index: account -> when
-- KEYS[2] stamps: account -> stamp of the latest note
-- uses: clock
-- ARGV[1] account
-- ARGV[2] delay in ms from now
-- ARGV[3] random text, so that two notes of one millisecond differ
-- RETURNS OK
local now = now_ms()
redis.call('ZADD', KEYS[1], 'LT', now + tonumber(ARGV[2]), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], int(now) .. '-' .. ARGV[3])
return { 'OK' }
