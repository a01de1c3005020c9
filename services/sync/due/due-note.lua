-- Notes in the index that an account has something due. Called BEFORE the account's script writes the fact; or later, for
-- a fact that the index may have lost.
-- KEYS[1] index: account -> when
-- KEYS[2] stamps: account -> stamp of the latest note
-- uses: clock
-- ARGV[1] account
-- ARGV[2] delay in ms from now
-- ARGV[3] random text, so that two notes of one millisecond differ; '' when the fact is there already: nobody has to
--         wait for it then
-- RETURNS OK
local now = now_ms()
redis.call('ZADD', KEYS[1], 'LT', now + tonumber(ARGV[2]), ARGV[1])
if ARGV[3] ~= '' then redis.call('HSET', KEYS[2], ARGV[1], int(now) .. '-' .. ARGV[3]) end
return { 'OK' }
