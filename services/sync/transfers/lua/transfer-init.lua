-- Offers files to a device: record, lists, announcement and expiry in one step.
-- It takes thirteen keys, because a refused offer must leave nothing behind, so one script does it all.
-- Keys and arguments: transferInit in scripts.ts.
-- uses: clock routes log operation rate devices/names transfers/transfer transfers/transfer-view transfers/offers transfers/quota push/push push/queue
-- RETURNS OK, transfer as JSON without its end, receiver, open routes and jobs to push at once, both one a line;
--         OK, '', '', '', '', ids: nothing was done, these have to be evicted first;
--         OK alone: nothing was done, the account has to be scheduled first (push-queue.ts)
--         | device_required | not_found | invalid_request (to oneself) | transfer_limit | name_taken
--         | rate_limited, limit, ms
local now = now_ms()
local open = open_routes(keys.routes, now, late_ms)
local first, refusal = recall_of_route(keys.operation, fingerprint, true)
if refusal then return { refusal } end
if first then
  first[4], first[5] = table.concat(open, '\n'), ''
  return first
end
-- The id is made for this request, so a record with it means that the request was sent before and took effect.
local made = resent_after_ms and read_transfer(keys.record)
RECALLED = made and true or false
if made then return { 'OK', open_json(made), made.receiver, table.concat(open, '\n'), '' } end
if must_schedule(keys, pushes) then return { 'OK' } end
local surplus = surplus_transfers(keys, LIMITS.transferRecords)
if surplus then return { 'OK', '', '', '', '', surplus } end
local flat = redis.call('HGETALL', keys.devices)
local from = row_name(flat, sender)
local to, to_name, several = chosen_device(flat, target)
if not from then return { 'device_required' } end
local over = over_rates(keys.rate, keys.account_rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
if several then return { 'name_taken' } end
if not to then return { 'not_found' } end
if to == sender then return { 'invalid_request' } end
local all, guests = live_share(keys.transfers)
local over_all = all[1] >= LIMITS.liveTransfers or all[2] + quota_bytes > LIMITS.transferBytes
local over_guests = guests[1] >= LIMITS.liveTransfersOfGuests or guests[2] + quota_bytes > LIMITS.transferBytes / 2
if over_all or (scope == 'guest' and over_guests) then return { 'transfer_limit' } end

local t = {
  id = transfer_id, state = 'PENDING', mode = 'p2p', phase = 'initializing', sender = sender, sender_name = from,
  receiver = to, receiver_name = to_name, files = files, count = count, bytes = bytes, sealed = sealed == '' and 'null' or '""',
  sent = '0', received = '0', error = 'null', created = int(now), relay = '0', accepted = '0', forwarded = '0', dirty = '0',
  slot = transfer_id .. ':' .. quota_bytes .. ':' .. scope,
}
if long_list ~= '' then redis.call('SET', keys.files, long_list) end
if sealed ~= '' then redis.call('SET', keys.sealed, sealed) end
if brief ~= '' then redis.call('HSET', keys.record, 'brief', brief) end
redis.call('HSET', keys.record, 'slot', t.slot, 'id', t.id, 'sender', t.sender, 'sender_name', from, 'receiver', to,
  'receiver_name', to_name, 'files', t.files, 'count', t.count, 'bytes', t.bytes, 'sealed', t.sealed, 'created', t.created)
save_transfer(keys, t, now)
local data = '{"transfer":' .. event_json(t) .. ',"redelivered":false}'
t.log = append_and_notify(keys, open, now, random, 'transfer:incoming', to, data)
redis.call('HSET', keys.record, 'log', t.log)
redis.call('ZADD', keys.offers, 0, pending_offer(to, t.log, t.id),
  0, listed_transfer(sender, t.created, t.id), 0, listed_transfer(to, t.created, t.id))
redis.call('ZADD', keys.transfers, 0, t.slot)
for _, key in ipairs({ keys.offers, keys.transfers }) do redis.call('EXPIRE', key, LISTED_SECONDS) end
local reply = { 'OK', open_json(t), to, table.concat(open, '\n') }
if is_kept(remember_seconds, resent_after_ms) then
  remember(keys.operation, fingerprint, remember_seconds, { 'OK', open_json(t), to, '[]' })
end
if pushes == 'scheduled' then
  enqueue_push(keys, now, has_live_stream(open, dead, to) and LIMITS.pushSilenceMs or 0, 'transfer', to, sender, t.id)
end
reply[5] = table.concat(PUSH_NOW, '\n')
return reply
