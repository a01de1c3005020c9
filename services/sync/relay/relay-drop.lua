-- A transfer has ended: nothing of the file is kept.
-- KEYS[1] state
-- KEYS[2] bytes
-- RETURNS OK, channel of its sender or '', of its reader or ''
local s = redis.call('HMGET', KEYS[1], 'wc', 'rc')
redis.call('DEL', KEYS[1], KEYS[2])
return { 'OK', s[1] or '', s[2] or '' }
