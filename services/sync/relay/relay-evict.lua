-- A file is not kept any more. One that has gone on to another generation meanwhile is left alone.
-- Keys and arguments: relayEvict in scripts.ts.
-- RETURNS OK, channel of its sender or '', of its reader or ''
local s = redis.call('HMGET', keys.state, 'g', 'wc', 'rc')
redis.call('DEL', keys.bytes)
if s[1] ~= generation then return { 'OK', '', '' } end
redis.call('DEL', keys.state)
return { 'OK', s[2] or '', s[3] or '' }
