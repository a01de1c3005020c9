-- Removes a file: its transfer has ended.
-- Keys and arguments: relayDrop in scripts.ts.
-- RETURNS OK, channel of the sender or '', of the reader or ''
local s = redis.call('HMGET', keys.state, 'wc', 'rc')
redis.call('DEL', keys.state, keys.bytes)
return { 'OK', s[1] or '', s[2] or '' }
