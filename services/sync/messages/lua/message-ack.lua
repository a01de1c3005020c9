-- Acknowledges messages: removes them from this device's mailbox, and sends one event to each sender device.
-- Keys and arguments: messageAck in scripts.ts.
-- uses: clock routes log operation messages/mail
-- RETURNS OK, acked | device_required | store_unavailable
local now = now_ms()
-- A first copy that arrives last finds nothing to do.
local first = resent_after_ms and recall(keys.operation, '')
if first then return first end
local before, unknown = logged_before(keys.log, now, random, 'message:delivered', resent_after_ms)
if unknown then return { unknown } end
local row = redis.call('HGET', keys.devices, device)
if not row then return { 'device_required' } end

local acked, senders, of_sender, is_untold = 0, {}, {}, false
for _, entry in ipairs(before or {}) do
  acked = acked + #cjson.decode(entry.data).message_ids
end
for i, sender in ipairs(drop_mail(keys, device, message_ids)) do
  if sender then
    acked = acked + 1
    if not of_sender[sender] then
      of_sender[sender] = {}
      senders[#senders + 1] = sender
    end
    table.insert(of_sender[sender], message_ids[i])
  end
end
local open = #senders > 0 and routes_to_notify(keys.routes, now) or {}
for _, sender in ipairs(senders) do
  -- A sender without a device, or one that was removed, gets no event.
  if sender ~= '' and redis.call('HEXISTS', keys.devices, sender) == 1 then
    local data = '{"message_ids":' .. cjson.encode(of_sender[sender]) .. ',"by_device_id":"' .. device .. '","by_name":'
      .. cjson.encode(string.match(row, '^[^\n]*')) .. ',"at":' .. int(now) .. '}'
    append_and_notify(keys, open, now, random, 'message:delivered', sender, data)
  else
    is_untold = true
  end
end
local reply = { 'OK', int(acked) }
-- The log does not record how many there were.
if is_untold then remember(keys.operation, '', '0', reply) end
return reply
