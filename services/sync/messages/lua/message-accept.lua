-- Accepts a message in one step and one trip: operation id, sender and targets, rate, limits, mailbox, log, announcement.
-- Keys and arguments: messageAccept in scripts.ts.
-- uses: clock routes log operation rate messages/mail messages/targets push/push push/queue
-- RETURNS OK, message id, created ms, targets as JSON [[device id or '', name, error or '', pushed], ...], open routes,
--         jobs to push at once; OK alone: nothing was done, the account has to be scheduled first (push-queue.ts)
--         | device_required | not_found | mailbox_full | rate_limited, limit, ms | idempotency_key_reused
local now = now_ms()
local rows = read_routes(keys.routes, now, late_ms)
local first, refusal = recall(keys.operation, fingerprint)
if refusal then return { refusal } end
if first then
  if first[5] then first[4] = kept_targets(keys.targets, first[5], first[6], sender) end
  first[5], first[6] = open_routes(rows), {}
  return first
end
if must_schedule(keys, pushes) then return { 'OK' } end
local flat = redis.call('HGETALL', keys.devices)
local targets, sender_row = {}, nil
for i = 1, #flat, 2 do
  local id, name = flat[i], string.match(flat[i + 1], '^[^\n]*')
  if id == sender then sender_row, from_name = true, name end
  if (wanted == '*' and id ~= sender) or wanted == '=' .. id or wanted == '~' .. name then
    targets[#targets + 1] = { id, name, '', false }
  end
end
if sender ~= '' and not sender_row then return { 'device_required' } end
local over = over_rates(keys.rate, keys.account_rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
if #targets == 0 and string.sub(wanted, 1, 1) == '~' then
  for _, row in ipairs(rows) do
    -- A stream without a device has no mailbox: it gets only what arrives while it is connected.
    if row.open and row.device == wanted and #targets == 0 then targets[1] = { '', string.sub(wanted, 2), '', false } end
  end
end
if #targets == 0 then return { 'not_found' } end

local held, purged = held_mail(keys, flat, now)
local full = held + bytes > LIMITS.mailboxBytes
local holders, addressees = {}, {}
for _, target in ipairs(targets) do
  local id, live = target[1], has_live_stream(rows, dead, target[1])
  if id == '' then
    addressees[#addressees + 1] = '~' .. target[2]
  elseif full or (held > 0 and count_mail(keys.inbox, id) >= LIMITS.mailboxMessages) then
    target[3] = 'mailbox_full'
  else
    holders[#holders + 1], addressees[#addressees + 1] = id, id
    local delay = live and LIMITS.pushSilenceMs or 0
    local enqueued = pushes == 'scheduled' and enqueue_push(keys, now, delay, 'message', id, sender, message_id)
    target[4] = enqueued and not live
  end
end
if #addressees == 0 and wanted ~= '*' then return { 'mailbox_full' } end
if #addressees > 0 then
  local open = '{"message_id":"' .. message_id .. '","from_device_id":' .. (sender == '' and 'null' or '"' .. sender .. '"')
    .. ',"from_name":' .. cjson.encode(from_name) .. ',"content":' .. content .. ',"created_at":' .. int(now)
  local data, to = open .. ',"redelivered":false}', table.concat(addressees, '\t')
  local id, prev = append(keys.log, now, random, 'message', to, #holders > 0 and message_id or data)
  if #holders > 0 then
    put_mail(keys, now, message_id, id, sender, bytes, holders, open, held, purged)
  end
  notify_all(rows, 'message', event_payload(account_of(keys.log), id, prev, now, 'message', to, data))
end
remember(keys.operation, fingerprint, remember_seconds,
  { 'OK', message_id, int(now), unpack(brief_targets(keys.targets, now, flat, targets)) })
return { 'OK', message_id, int(now), cjson.encode(targets), open_routes(rows), PUSH_NOW }
