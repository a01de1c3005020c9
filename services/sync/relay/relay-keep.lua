-- A file is in the relay without a place: its receiver has it, or its sender has to come back for it. So many of an
-- account are kept, the newest; the caller removes the others.
-- KEYS[1] files of the account that hold bytes
-- KEYS[2] files of the account that are kept, `<file>/<generation>`, in order
-- ARGV[1] file
-- ARGV[2] generation
-- ARGV[3] files
-- ARGV[4] ms to live
-- ARGV[5] '1': it gives its place back | '0': with a place it stays where it is
-- RETURNS OK, then those that go
-- First, since a store that is full refuses a script whose first write may need memory.
redis.call('PEXPIRE', KEYS[2], ARGV[4])
if ARGV[5] == '1' then redis.call('ZREM', KEYS[1], ARGV[1]) end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return { 'OK' } end
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
redis.call('ZADD', KEYS[2], string.format('%.0f', (tonumber(last[2]) or 0) + 1), ARGV[1] .. '/' .. ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
local gone = redis.call('ZRANGE', KEYS[2], 0, -1 - tonumber(ARGV[3]))
if #gone > 0 then redis.call('ZREM', KEYS[2], unpack(gone)) end
return { 'OK', unpack(gone) }
