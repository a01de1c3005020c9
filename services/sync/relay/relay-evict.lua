-- A file is not kept any more. One that has gone on to another generation meanwhile is left alone.
-- KEYS[1] state
-- KEYS[2] bytes
-- ARGV[1] generation of the bytes
-- RETURNS OK, channel of its sender or '', of its reader or ''
local s = redis.call('HMGET', KEYS[1], 'g', 'wc', 'rc')
redis.call('DEL', KEYS[2])
if s[1] ~= ARGV[1] then return { 'OK', '', '' } end
redis.call('DEL', KEYS[1])
return { 'OK', s[2] or '', s[3] or '' }
