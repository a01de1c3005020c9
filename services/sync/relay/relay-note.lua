-- A chunk was added, in the same transaction: whether it may stay, and who is to be told. It stays when it comes from
-- the request that sends now and begins where the bytes end: the one before it may have been refused. Its bytes
-- would cost four times as much of Redis as an argument of a script (measured).
-- Keys and arguments: relayNote in scripts.ts.
-- uses: relay/relay
-- RETURNS OK, taken ('': refused, another sends now), channel to ring or '', channel of a reader that waits for more or ''
local s = redis.call('HMGET', keys.state, 'w', 'taken', 'rw', 'rc', 'end')
if s[1] ~= token or s[5] ~= start then
  cut(keys.bytes, s[5])
  renew(KEYS, IDLE_MS)
  return { 'OK', '', '', '' }
end
redis.call('HSET', keys.state, 'end', chunk_end)
renew(KEYS, IDLE_MS)
-- The receiver has been further than this already.
if tonumber(chunk_end) <= tonumber(s[2]) then redis.call('XTRIM', keys.bytes, 'MINID', chunk_end) end
if not s[3] then return { 'OK', s[2], '', '' } end
if not urgent and tonumber(chunk_end) < tonumber(s[3]) then return { 'OK', s[2], '', s[4] } end
redis.call('HDEL', keys.state, 'rw')
return { 'OK', s[2], s[4], '' }
