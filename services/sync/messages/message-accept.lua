-- Accepts a message: operation id, sender and targets, rate, caps, mailbox, log, announcement: one step, one trip.
-- uses: clock routes log operation rate mail push owing targets
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] mail
-- KEYS[5] inbox
-- KEYS[6] operation
-- KEYS[7] rate
-- KEYS[8] push
-- KEYS[9] due
-- KEYS[10] rate of the account
-- KEYS[11] targets of messages to all devices
-- ARGV[1] device of the sender, '' without
-- ARGV[2] name of a sender without device
-- ARGV[3] target: `*`, `=<device id>` or `~<name>`
-- ARGV[4] message id
-- ARGV[5] content as a JSON string
-- ARGV[6] content in bytes, as JSON where that is longer
-- ARGV[7] 32 random bits
-- ARGV[8] fingerprint of the request
-- ARGV[9] seconds to remember the operation
-- ARGV[10] rate limit of 60 s, 0: off
-- ARGV[11] messages per mailbox
-- ARGV[12] bytes per account
-- ARGV[13] seconds in the mailbox
-- ARGV[14] pushes: noted (in the index of due things) | ask | off
-- ARGV[15] channels of dead replicas, joined by line ends
-- ARGV[16] ms after which an unacknowledged message is pushed although a stream is live
-- ARGV[17] ms that rows may be older than usual
-- RETURNS OK, message id, created ms, targets as JSON [[device id or '', name, error or '', pushed], ...], open routes,
--         facts to be run at once; OK, '': nothing was done, the account has subscriptions and has to be noted first
--         | device_required | not_found | mailbox_full | rate_limited, limit, ms | idempotency_key_reused
local keys = { devices = KEYS[1], routes = KEYS[2], log = KEYS[3], mail = KEYS[4], inbox = KEYS[5], push = KEYS[8], due = KEYS[9] }
local now = now_ms()
local rows = read_routes(keys.routes, now, tonumber(ARGV[17]))
local first, refusal = recall(KEYS[6], ARGV[8])
if refusal then return answer({ refusal }) end
if first then
  if first[5] then first[4] = kept_targets(KEYS[11], first[5], first[6], ARGV[1]) end
  first[5], first[6] = open_routes(rows), {}
  return answer(first)
end
if ARGV[14] == 'ask' and redis.call('EXISTS', keys.push) == 1 then return answer({ 'OK', '' }) end
local sender, from_name, flat = ARGV[1], ARGV[2], redis.call('HGETALL', keys.devices)
local targets, sender_row = {}, nil
for i = 1, #flat, 2 do
  local id, name = flat[i], string.match(flat[i + 1], '^[^\n]*')
  if id == sender then sender_row, from_name = true, name end
  if (ARGV[3] == '*' and id ~= sender) or ARGV[3] == '=' .. id or ARGV[3] == '~' .. name then
    targets[#targets + 1] = { id, name, '', false }
  end
end
if sender ~= '' and not sender_row then return answer({ 'device_required' }) end
local over = over_rates(KEYS[7], KEYS[10], tonumber(ARGV[10]), 60)
if over then return answer(over) end
if #targets == 0 and string.sub(ARGV[3], 1, 1) == '~' then
  for _, row in ipairs(rows) do
    -- A stream without a device has no mailbox: it gets what arrives while it is connected.
    if row.open and row.device == ARGV[3] and #targets == 0 then targets[1] = { '', string.sub(ARGV[3], 2), '', false } end
  end
end
if #targets == 0 then return answer({ 'not_found' }) end

-- Of all devices: what waits for one that never comes back must not keep the account full for ever.
for i = 1, #flat, 2 do purge_mail(keys, flat[i], now, tonumber(ARGV[13])) end
local full = tonumber(redis.call('HGET', keys.mail, 'bytes') or '0') + tonumber(ARGV[6]) > tonumber(ARGV[12])
local holders, addressees = {}, {}
for _, target in ipairs(targets) do
  local id, live = target[1], has_live_stream(rows, ARGV[15], target[1])
  if id == '' then
    addressees[#addressees + 1] = '~' .. target[2]
  elseif full or redis.call('ZLEXCOUNT', keys.inbox, '[' .. id .. ':', '(' .. id .. ';') >= tonumber(ARGV[11]) then
    target[3] = 'mailbox_full'
  else
    holders[#holders + 1], addressees[#addressees + 1] = id, id
    local owed = ARGV[14] == 'noted' and owe_push(keys, now, live and ARGV[16] or 0, 'message', id, sender, ARGV[4])
    target[4] = owed and not live
  end
end
if #addressees == 0 and ARGV[3] ~= '*' then return answer({ 'mailbox_full' }) end
if #addressees > 0 then
  local open = '{"message_id":"' .. ARGV[4] .. '","from_device_id":' .. (sender == '' and 'null' or '"' .. sender .. '"')
    .. ',"from_name":' .. cjson.encode(from_name) .. ',"content":' .. ARGV[5] .. ',"created_at":' .. int(now)
  local data, to = open .. ',"redelivered":false}', table.concat(addressees, '\t')
  local id, prev = append(keys.log, now, ARGV[7], 'message', to, #holders > 0 and ARGV[4] or data)
  if #holders > 0 then
    put_mail(keys, ARGV[4], id, sender, ARGV[6], holders, open)
    redis.call('EXPIRE', keys.mail, ARGV[13])
    redis.call('EXPIRE', keys.inbox, ARGV[13])
  end
  ring_all(rows, 'message', event_payload(account_of(keys.log), id, prev, now, 'message', to, data))
end
remember(KEYS[6], ARGV[8], ARGV[9], { 'OK', ARGV[4], int(now), unpack(brief_targets(KEYS[11], now, flat, targets)) })
return answer({ 'OK', ARGV[4], int(now), cjson.encode(targets), open_routes(rows), PUSH_NOW })
