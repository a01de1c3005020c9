-- The generation of a file in the relay, compare-and-set: the account's record is what survives when the relay's own
-- store loses its state. Any but the first is told to the sender. The one that it has already is told again, and the
-- record stays; or, where nobody is told, its offset moves: what the receiver has whole has one at its end.
-- uses: clock routes log transfers/transfer
-- KEYS[1] routes
-- KEYS[2] log
-- KEYS[3] record
-- ARGV[1] file
-- ARGV[2] generation that it has, '' before the first
-- ARGV[3] generation that it gets
-- ARGV[4] offset at which that begins
-- ARGV[5] 32 random bits
-- ARGV[6] '1': its sender is told
-- RETURNS OK, generation, '' or the state that refuses: of an ended one nothing begins | not_found
local now, found = now_ms(), redis.call('HMGET', KEYS[3], 'id', 'sender', 'state', 'r' .. ARGV[1])
local t, known = { id = found[1], sender = found[2], state = found[3] }, found[4]
if not t.id then return answer({ 'not_found' }) end
if is_over(t) then return answer({ 'OK', ARGV[3], (ARGV[2] == '' or ARGV[6] == '1') and t.state or '' }) end
if (known and string.match(known, '^%d+') or '') ~= ARGV[2] then return answer({ 'OK', (string.match(known or '', '^%d+')), '' }) end
if ARGV[2] ~= ARGV[3] or ARGV[6] ~= '1' then redis.call('HSET', KEYS[3], 'r' .. ARGV[1], ARGV[3] .. ':' .. ARGV[4]) end
if ARGV[6] == '1' then
  local data = '{"transfer_id":"' .. t.id .. '","index":' .. ARGV[1] .. ',"upload_url":"' .. relay_url(t.id, ARGV[1], ARGV[3])
    .. '","offset":' .. ARGV[4] .. '}'
  append_and_ring({ log = KEYS[2] }, read_routes(KEYS[1], now), now, ARGV[5], 'relay:rewind', t.sender, data)
end
return answer({ 'OK', ARGV[3], '' })
