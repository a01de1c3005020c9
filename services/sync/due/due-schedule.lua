-- Notes in the index that an account has something due. Called BEFORE the account's script writes the fact; or later, for
-- a fact that the index may have lost.
-- Keys and arguments: dueNote in scripts.ts.
-- uses: clock
-- RETURNS OK
local now = now_ms()
redis.call('ZADD', keys.index, 'LT', now + delay_ms, account)
if nonce ~= '' then redis.call('HSET', keys.stamps, account, int(now) .. '-' .. nonce) end
return { 'OK' }
