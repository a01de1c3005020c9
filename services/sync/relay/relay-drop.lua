-- A transfer has ended: nothing of the file is kept.
-- Keys and arguments: relayDrop in scripts.ts.
-- RETURNS OK, channel of its sender or '', of its reader or ''
local s = redis.call('HMGET', keys.state, 'wc', 'rc')
redis.call('DEL', keys.state, keys.bytes)
return { 'OK', s[1] or '', s[2] or '' }
