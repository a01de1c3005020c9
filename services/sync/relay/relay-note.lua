-- A chunk was added: who is to be told. Sent right behind the chunk itself, whose bytes would cost four times as much
-- of Redis as an argument of a script (measured).
-- uses: relay
-- KEYS[1] state
-- KEYS[2] bytes
-- ARGV[1] token of the sender
-- ARGV[2] end of the chunk
-- ARGV[3] '1': tell a reader whatever it waits for
-- ARGV[4] ms to live
-- RETURNS OK, taken ('' when another sends now), channel to ring or '', channel of a reader that waits for more or ''
local s = redis.call('HMGET', KEYS[1], 'w', 'taken', 'rw', 'rc')
if s[1] ~= ARGV[1] then return { 'OK', '', '', '' } end
renew(KEYS, ARGV[4])
-- The receiver has been further than this already.
if tonumber(ARGV[2]) <= tonumber(s[2]) then redis.call('XTRIM', KEYS[2], 'MINID', ARGV[2]) end
if not s[3] then return { 'OK', s[2], '', '' } end
if ARGV[3] ~= '1' and tonumber(ARGV[2]) < tonumber(s[3]) then return { 'OK', s[2], '', s[4] } end
redis.call('HDEL', KEYS[1], 'rw')
return { 'OK', s[2], s[4], '' }
