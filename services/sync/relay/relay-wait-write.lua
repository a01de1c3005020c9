-- The sender has no room, or doubts: either there is some now, or it is rung when there is.
-- uses: relay/relay
-- KEYS[1] state
-- KEYS[2] bytes
-- ARGV[1] token
-- ARGV[2] generation
-- ARGV[3] what has to be taken for it to go on
-- ARGV[4] ms to live
-- ARGV[5] its channel
-- RETURNS OK, taken ('' when another sends now), channel of a reader that waits or ''
local s = redis.call('HMGET', KEYS[1], 'w', 'g', 'taken', 'rw', 'rc')
if s[1] ~= ARGV[1] or s[2] ~= ARGV[2] then return { 'OK', '', '' } end
renew(KEYS, ARGV[4])
if tonumber(s[3]) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], 'ww', ARGV[3], 'wc', ARGV[5]) end
if s[4] then redis.call('HDEL', KEYS[1], 'rw') end
return { 'OK', s[3], s[4] and s[5] or '' }
