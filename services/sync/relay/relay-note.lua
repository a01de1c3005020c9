-- A chunk was added, in the same transaction: whether it may stay, and who is to be told. It stays when it comes from
-- the request that sends now and begins where the bytes end: the one before it may have been refused. Its bytes
-- would cost four times as much of Redis as an argument of a script (measured).
-- uses: relay/relay
-- KEYS[1] state
-- KEYS[2] bytes
-- ARGV[1] token of the sender
-- ARGV[2] start of the chunk
-- ARGV[3] end of the chunk
-- ARGV[4] '1': tell a reader whatever it waits for
-- ARGV[5] ms to live
-- RETURNS OK, taken ('': refused, another sends now), channel to ring or '', channel of a reader that waits for more or ''
local s = redis.call('HMGET', KEYS[1], 'w', 'taken', 'rw', 'rc', 'end')
if s[1] ~= ARGV[1] or s[5] ~= ARGV[2] then
  cut(KEYS[2], s[5])
  renew(KEYS, ARGV[5])
  return { 'OK', '', '', '' }
end
redis.call('HSET', KEYS[1], 'end', ARGV[3])
renew(KEYS, ARGV[5])
-- The receiver has been further than this already.
if tonumber(ARGV[3]) <= tonumber(s[2]) then redis.call('XTRIM', KEYS[2], 'MINID', ARGV[3]) end
if not s[3] then return { 'OK', s[2], '', '' } end
if ARGV[4] ~= '1' and tonumber(ARGV[3]) < tonumber(s[3]) then return { 'OK', s[2], '', s[4] } end
redis.call('HDEL', KEYS[1], 'rw')
return { 'OK', s[2], s[4], '' }
