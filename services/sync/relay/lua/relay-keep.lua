-- Keeps the bytes of a file without a reservation: its receiver has it, or its sender has to come back. Only the newest
-- files of an account are kept; the caller evicts the others.
-- Keys and arguments: relayKeep in scripts.ts.
-- RETURNS OK, then the files to evict
-- This write comes first, because a full store refuses a script whose first write may need memory.
redis.call('PEXPIRE', keys.kept, IDLE_MS)
if gives then redis.call('ZREM', keys.files, file) end
if redis.call('ZSCORE', keys.files, file) then return { 'OK' } end
local last = redis.call('ZRANGE', keys.kept, -1, -1, 'WITHSCORES')
redis.call('ZADD', keys.kept, string.format('%.0f', (tonumber(last[2]) or 0) + 1), file .. '/' .. generation)
redis.call('PEXPIRE', keys.kept, IDLE_MS)
local gone = redis.call('ZRANGE', keys.kept, 0, -1 - LIMITS.relayKeptFiles)
if #gone > 0 then redis.call('ZREM', keys.kept, unpack(gone)) end
return { 'OK', unpack(gone) }
