-- Acknowledges messages: they leave this device's mailbox, and each sender device is told in one event.
-- uses: clock routes log operation mail
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] mail
-- KEYS[5] inbox
-- KEYS[6] operation
-- ARGV[1] device that acknowledges
-- ARGV[2] 32 random bits
-- ARGV[3] fingerprint of the request
-- ARGV[4] seconds to remember the operation
-- ARGV[5...] message ids
-- RETURNS OK, acked | device_required
local keys, now = { routes = KEYS[2], log = KEYS[3], mail = KEYS[4], inbox = KEYS[5] }, now_ms()
local first, refusal = recall(KEYS[6], ARGV[3])
if refusal then return answer({ refusal }) end
if first then return answer(first) end
local device = ARGV[1]
local row = redis.call('HGET', KEYS[1], device)
if not row then return answer({ 'device_required' }) end

local acked, senders, of_sender = 0, {}, {}
for i = 5, #ARGV do
  local sender = drop_mail(keys, device, ARGV[i])
  if sender then
    acked = acked + 1
    -- A sender without a device, or one that was removed, has nobody to tell.
    if sender ~= '' and redis.call('HEXISTS', KEYS[1], sender) == 1 then
      if not of_sender[sender] then
        of_sender[sender] = {}
        senders[#senders + 1] = sender
      end
      table.insert(of_sender[sender], ARGV[i])
    end
  end
end
local rows = #senders > 0 and read_routes(keys.routes, now) or {}
for _, sender in ipairs(senders) do
  local data = '{"message_ids":' .. cjson.encode(of_sender[sender]) .. ',"by_device_id":"' .. device .. '","by_name":'
    .. cjson.encode(string.match(row, '^[^\n]*')) .. ',"at":' .. int(now) .. '}'
  append_and_ring(keys, rows, now, ARGV[2], 'message:delivered', sender, data)
end
local reply = { 'OK', int(acked) }
remember(KEYS[6], ARGV[3], ARGV[4], reply)
return answer(reply)
