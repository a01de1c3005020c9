-- Removes the bytes of a generation, because newer files are kept. Keeps the state of a file that is in another
-- generation by now.
-- Keys and arguments: relayEvict in scripts.ts.
-- RETURNS OK, channel of the sender or '', of the reader or ''
local s = redis.call('HMGET', keys.state, 'g', 'wc', 'rc')
redis.call('DEL', keys.bytes)
if s[1] ~= generation then return { 'OK', '', '' } end
redis.call('DEL', keys.state)
return { 'OK', s[2] or '', s[3] or '' }
