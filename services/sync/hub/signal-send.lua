-- Passes a WebRTC signal to a device of the account, through the log, so that it survives a short reconnect in order.
-- uses: clock routes log operation rate
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] operation
-- KEYS[5] rate
-- KEYS[6] record of the transfer; any key when there is none
-- KEYS[7] rate of the account
-- ARGV[1] device that sends
-- ARGV[2] target: `=<device id>` or `~<name>`
-- ARGV[3] transfer id, '' without
-- ARGV[4] kind
-- ARGV[5] payload as JSON
-- ARGV[6] 32 random bits
-- ARGV[7] fingerprint of the request
-- ARGV[8] seconds to remember the operation
-- ARGV[9] rate limit of 60 s, 0: off
-- ARGV[10] ms that rows may be older than usual
-- RETURNS OK, receiver, open routes | device_required | not_found | not_a_party | rate_limited, limit, ms
local keys, now = { routes = KEYS[2], log = KEYS[3] }, now_ms()
local rows = read_routes(keys.routes, now, tonumber(ARGV[10]))
local first, refusal = recall(KEYS[4], ARGV[7])
if refusal then return answer({ refusal }) end
if first then return answer({ 'OK', first[2], open_routes(rows) }) end
local sender, flat, from, to = ARGV[1], redis.call('HGETALL', KEYS[1]), nil, nil
for i = 1, #flat, 2 do
  local name = string.match(flat[i + 1], '^[^\n]*')
  if flat[i] == sender then from = name end
  if ARGV[2] == '=' .. flat[i] or ARGV[2] == '~' .. name then to = flat[i] end
end
if not from then return answer({ 'device_required' }) end
local over = over_rates(KEYS[5], KEYS[7], tonumber(ARGV[9]), 60)
if over then return answer(over) end
if not to then return answer({ 'not_found' }) end
if ARGV[3] ~= '' then
  local parties = redis.call('HMGET', KEYS[6], 'sender', 'receiver')
  if not parties[1] then return answer({ 'not_found' }) end
  local between = (parties[1] == sender and parties[2] == to) or (parties[2] == sender and parties[1] == to)
  if not between then return answer({ 'not_a_party' }) end
end
local data = '{"from_device_id":"' .. sender .. '","from_name":' .. cjson.encode(from)
  .. ',"transfer_id":' .. (ARGV[3] == '' and 'null' or '"' .. ARGV[3] .. '"')
  .. ',"kind":"' .. ARGV[4] .. '","payload":' .. ARGV[5] .. '}'
append_and_ring(keys, rows, now, ARGV[6], 'signal', to, data)
remember(KEYS[4], ARGV[7], ARGV[8], { 'OK', to, '[]' })
return answer({ 'OK', to, open_routes(rows) })
