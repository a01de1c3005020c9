-- Accepts a message in one step and one trip: operation id, sender and targets, rate, limits, mailbox, log, announcement.
-- Keys and arguments: messageAccept in scripts.ts.
-- uses: clock routes log operation rate devices/names messages/mail messages/mail-space messages/chosen messages/targets push/push push/queue messages/told-before
-- RETURNS OK, message id, created ms, targets as JSON [[device id or '', name, error or '', pushed], ...], open routes
--         and jobs to push at once, both in lines; OK alone: nothing was done, the account has to be scheduled first (push-queue.ts)
--         | device_required | not_found | mailbox_full | rate_limited, limit, ms | idempotency_key_reused | name_taken
--         | store_unavailable (here and elsewhere: the call was sent again, and it is unknown whether the first
--           one took effect)
local now = now_ms()
local open = open_routes(keys.routes, now, late_ms)
local first, refusal = recall_of_route(keys.operation, fingerprint, false)
if refusal then return { refusal } end
if first then
  if first[5] then first[4] = kept_targets(keys.targets, first[5], first[6], sender) end
  first[5], first[6] = table.concat(open, '\n'), ''
  return first
end
local how, whom = string.sub(wanted, 1, 1), string.sub(wanted, 2)
local devices = how == '=' and rows_of(keys.devices, sender, whom) or redis.call('HGETALL', keys.devices)
local targets, own_name, several = chosen_targets(devices, open, how, whom, sender)
from_name = own_name or from_name
-- If answers are kept and there is none, the message was not accepted.
local sent_before_ms = remember_seconds == '0' and resent_after_ms or nil
local before, unknown = logged_before(keys.log, now, random, 'message', sent_before_ms)
if unknown then return { unknown } end
if before then
  local created, told = told_before(keys, now, before[1], targets, devices, message_id, open, dead, pushes)
  return { 'OK', message_id, created, told, table.concat(open, '\n'), '' }
end
if must_schedule(keys, pushes) then return { 'OK' } end
if sender ~= '' and not own_name then return { 'device_required' } end
local over = over_rates(keys.rate, keys.account_rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
if several then return { 'name_taken' } end
if #targets == 0 then return { 'not_found' } end

local held, minute = held_mail(keys, now)
local full, count_each = held + bytes > LIMITS.mailboxBytes, may_one_be_full(keys, held)
local holders, addressees = {}, {}
for _, target in ipairs(targets) do
  local id = target[1]
  if id == '' then
    addressees[#addressees + 1] = '~' .. target[2]
  elseif full or (count_each and count_mail(keys.inbox, id) >= LIMITS.mailboxMessages) then
    target[3] = 'mailbox_full'
  else
    holders[#holders + 1], addressees[#addressees + 1] = id, id
    if pushes == 'scheduled' then
      local live = has_live_stream(open, dead, id)
      local enqueued = enqueue_push(keys, now, live and LIMITS.pushSilenceMs or 0, 'message', id, sender, message_id)
      target[4] = enqueued and not live
    end
  end
end
if #addressees == 0 and how ~= '*' then return { 'mailbox_full' } end
local created = int(now)
if #addressees > 0 then
  local json = '{"message_id":"' .. message_id .. '","from_device_id":' .. (sender == '' and 'null' or '"' .. sender .. '"')
    .. ',"from_name":' .. cjson.encode(from_name) .. ',"content":' .. content .. ',"created_at":' .. created
  local ending, to = ',"redelivered":false}', table.concat(addressees, '\t')
  local id, prev = append(keys.log, now, random, 'message', to, #holders > 0 and message_id or json .. ending)
  if #holders > 0 then put_mail(keys, message_id, id, sender, bytes, holders, json, held, minute) end
  notify_all(open, 'message', event_payload(account_of(keys.log), id, prev, now, 'message', to, json, ending))
end
local told = cjson.encode(targets)
if is_kept(remember_seconds, resent_after_ms) then
  remember(keys.operation, fingerprint, remember_seconds,
    { 'OK', message_id, created, brief_targets(keys.targets, now, devices, targets, told) })
end
return { 'OK', message_id, created, told, table.concat(open, '\n'), table.concat(PUSH_NOW, '\n') }
