-- Sets the generation of a file in the relay by compare-and-set. It is in the account's record, which survives when the
-- relay's own store loses its state. Any generation but the first causes an event to the sender. A call with the
-- generation that the file already has causes an event if its generation or offset differs from that of the last event,
-- or if the last event is half a minute old; the record stays as it is. Such a call without an event changes the offset
-- in the record: once the receiver has the whole file, the offset is the end of the file.
-- Keys and arguments: transferGeneration in scripts.ts.
-- uses: clock routes log transfers/transfer
-- RETURNS OK, generation, '' or the state that refuses (an ended transfer begins nothing), whether this call changed
--         the generation ('1' | '0') | not_found
local now, found = now_ms(), redis.call('HMGET', keys.record, 'id', 'sender', 'state', 'r' .. file, 'w' .. file)
local t, known = { id = found[1], sender = found[2], state = found[3] }, found[4]
local begun_at = generation .. ':' .. offset
if not t.id then return { 'not_found' } end
if is_over(t) then return { 'OK', generation, (known_generation == '' or tells) and t.state or '', '0' } end
if (known and string.match(known, '^%d+') or '') ~= known_generation then return { 'OK', string.match(known or '', '^%d+') or '', '', '0' } end
if known_generation ~= generation or not tells then redis.call('HSET', keys.record, 'r' .. file, begun_at) end
local sent, at = string.match(found[5] or '', '^(.*) (%d+)$')
-- A receiver that repeatedly asks for bytes that its sender has not begun to send must not push other events out of the
-- log.
if tells and not (sent == begun_at and math.abs(now - tonumber(at)) < TELL_AGAIN_MS) then
  redis.call('HSET', keys.record, 'w' .. file, begun_at .. ' ' .. int(now))
  local data = '{"transfer_id":"' .. t.id .. '","index":' .. file .. ',"upload_url":"' .. relay_url(t.id, file, generation)
    .. '","offset":' .. offset .. '}'
  append_and_notify(keys, routes_to_notify(keys.routes, now), now, random, 'relay:rewind', t.sender, data)
end
return { 'OK', generation, '', known_generation ~= generation and '1' or '0' }
