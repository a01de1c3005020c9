-- Puts an account into the index of those with something due. Called BEFORE the account's script writes the job, or
-- later for a job that the index may have lost.
-- Keys and arguments: dueSchedule in scripts.ts.
-- uses: clock
-- RETURNS OK
local now = now_ms()
redis.call('ZADD', keys.index, 'LT', now + delay_ms, account)
if nonce ~= '' then redis.call('HSET', keys.stamps, account, int(now) .. '-' .. nonce) end
return { 'OK' }
