-- Accepts or refuses the chunk that the same transaction has just added. The chunk stays if it comes from the request
-- that sends now and begins where the bytes end, because the chunk before it may have been refused. The bytes are not
-- an argument of this script, because that would cost Redis four times as much (measured).
-- Keys and arguments: relayCommit in scripts.ts.
-- uses: relay/relay
-- RETURNS OK, taken ('': refused), channel to notify or '', channel of a reader that waits for bytes or ''
local s = redis.call('HMGET', keys.state, 'w', 'taken', 'rw', 'rc', 'end')
if s[1] ~= token or s[5] ~= start then
  cut(keys.bytes, s[5])
  renew(KEYS, IDLE_MS)
  return { 'OK', '', '', '' }
end
redis.call('HSET', keys.state, 'end', chunk_end)
renew(KEYS, IDLE_MS)
-- The receiver is already beyond this chunk. Earlier chunks are removed now, and this chunk with the next one.
if tonumber(chunk_end) <= tonumber(s[2]) then redis.call('XTRIM', keys.bytes, 'MINID', chunk_end) end
if not s[3] then return { 'OK', s[2], '', '' } end
if not urgent and tonumber(chunk_end) < tonumber(s[3]) then return { 'OK', s[2], '', s[4] } end
redis.call('HDEL', keys.state, 'rw')
return { 'OK', s[2], s[4], '' }
