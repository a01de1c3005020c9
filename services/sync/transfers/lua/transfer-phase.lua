-- Records the phase of one side, and forwards it to both parties at most four times a second, without an entry in the
-- log. The newest phase wins: a later call without phase and file forwards a phase that came too early. The bytes of
-- all files that the receiver has acknowledged count as received; such a report never lowers that number. Each side
-- reports only its own number of progress.
-- Keys and arguments: transferPhase in scripts.ts.
-- uses: clock routes transfers/transfer transfers/transfer-view
-- RETURNS OK, transfer as JSON without its end, files ('': a long list), state in the relay, '' or the state that refuses,
--         ms to wait before forwarding ('0': done), '' or the refused number | not_found | not_a_party
local now, t = now_ms(), read_transfer(keys.record)
if not t then return { 'not_found' } end
if device ~= t.sender and device ~= t.receiver then return { 'not_a_party' } end
if is_over(t) then return { 'OK', '', '', '', t.state, '0', '' } end
local function is_wrong(bytes, side) return bytes ~= '' and (device ~= side or tonumber(bytes) > tonumber(t.bytes)) end
local wrong = is_wrong(sent, t.sender) and 'sent_bytes' or is_wrong(received, t.receiver) and 'received_bytes' or ''
if wrong ~= '' then return { 'OK', '', '', '', '', '0', wrong } end

if phase ~= '' then
  t.phase, t.dirty = phase, '1'
  if sent ~= '' then t.sent = sent end
  if received ~= '' then t.received = received end
end
if file ~= '' then
  local field, sum = 'a' .. file, 0
  t[field] = int(math.max(tonumber(t[field] or '0'), tonumber(stored_bytes)))
  redis.call('HSET', keys.record, field, t[field])
  for name, value in pairs(t) do
    if string.match(name, '^a%d+$') then sum = sum + tonumber(value) end
  end
  if sum > tonumber(t.received) then t.received, t.dirty = int(sum), '1' end
end
local wait = math.max(0, tonumber(t.forwarded) + FORWARD_MS - now)
local forwards = t.dirty == '1' and wait == 0
if forwards then t.forwarded, t.dirty = int(now), '0' end
save_transfer(keys, t, now)
if forwards then
  local to, data = t.sender .. '\t' .. t.receiver, '{"transfer":' .. event_json(t) .. '}'
  local payload = table.concat({ BUS.unlogged, account_of(keys.routes), 'transfer:updated', to, data }, '\n')
  notify_all(routes_to_notify(keys.routes, now), 'transfer:updated', payload)
end
local files, words = brief_parts(t)
return { 'OK', open_json(t), files, words, '', t.dirty == '1' and int(wait) or '0', '' }
