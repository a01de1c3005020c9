-- Sends a WebRTC signal to a device of the account through the log, so that a short reconnect loses none and keeps the
-- order.
-- Keys and arguments: signalSend in scripts.ts.
-- uses: clock routes log operation rate devices/names
-- RETURNS OK, receiver, open routes, one a line | device_required | not_found | not_a_party | name_taken
--         | rate_limited, limit, ms | store_unavailable
local now = now_ms()
local open = open_routes(keys.routes, now, late_ms)
local first = recall(keys.operation, '')
if first then return { 'OK', first[2], table.concat(open, '\n') } end
local before, unknown = logged_before(keys.log, now, random, 'signal', resent_after_ms)
if unknown then return { unknown } end
if before then return { 'OK', before[1].to, table.concat(open, '\n') } end
local flat = redis.call('HGETALL', keys.devices)
local from = row_name(flat, sender)
local to, _, several = chosen_device(flat, target)
if not from then return { 'device_required' } end
local over = over_rates(keys.rate, keys.account_rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
if several then return { 'name_taken' } end
if not to then return { 'not_found' } end
if transfer_id ~= '' then
  local parties = redis.call('HMGET', keys.transfer, 'sender', 'receiver')
  if not parties[1] then return { 'not_found' } end
  local between = (parties[1] == sender and parties[2] == to) or (parties[2] == sender and parties[1] == to)
  if not between then return { 'not_a_party' } end
end
local data = '{"from_device_id":"' .. sender .. '","from_name":' .. cjson.encode(from)
  .. ',"transfer_id":' .. (transfer_id == '' and 'null' or '"' .. transfer_id .. '"')
  .. ',"kind":"' .. kind .. '","payload":' .. payload .. '}'
append_and_notify(keys, open, now, random, 'signal', to, data)
if resent_after_ms then remember(keys.operation, '', '0', { 'OK', to, '[]' }) end
return { 'OK', to, table.concat(open, '\n') }
