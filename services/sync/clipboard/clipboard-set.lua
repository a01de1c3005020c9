-- Replaces the clipboard. The content is in this one key and nowhere else: not in the log, the event or the operation.
-- Value: updated ms \n expires ms \n JSON
-- uses: clock routes log operation rate
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] clipboard
-- KEYS[5] due
-- KEYS[6] operation
-- KEYS[7] rate
-- KEYS[8] rate of the account
-- ARGV[1] device of the writer, '' without
-- ARGV[2] name to show, '' for the name of its row
-- ARGV[3] content as a JSON string
-- ARGV[4] content in bytes
-- ARGV[5] lifetime in ms
-- ARGV[6] 32 random bits
-- ARGV[7] fingerprint of the request
-- ARGV[8] seconds to remember the operation
-- ARGV[9] rate limit of 60 s, 0: off
-- RETURNS OK, shown name, updated ms, expires ms | device_required | rate_limited, limit, ms
local keys, now = { routes = KEYS[2], log = KEYS[3] }, now_ms()
local first, refusal = recall(KEYS[6], ARGV[7])
if refusal then return answer({ refusal }) end
if first then return answer(first) end
local device, name = ARGV[1], ARGV[2]
local row = device ~= '' and redis.call('HGET', KEYS[1], device)
if device ~= '' and not row then return answer({ 'device_required' }) end
local over = over_rates(KEYS[7], KEYS[8], tonumber(ARGV[9]), 60)
if over then return answer(over) end

if name == '' then name = string.match(row, '^[^\n]*') end
local updated, expires = int(now), int(now + tonumber(ARGV[5]))
local source = '"source_device_id":' .. (device == '' and 'null' or '"' .. device .. '"')
  .. ',"source_device_name":' .. cjson.encode(name) .. ',"updated_at":' .. updated .. ',"expires_at":' .. expires
local json = '{"content":' .. ARGV[3] .. ',"content_type":"text/plain",' .. source .. '}'
redis.call('SET', KEYS[4], updated .. '\n' .. expires .. '\n' .. json, 'PX', ARGV[5])
redis.call('ZADD', KEYS[5], expires, 'clipboard')
local data = '{' .. source .. ',"bytes":' .. ARGV[4] .. '}'
append_and_ring(keys, read_routes(keys.routes, now), now, ARGV[6], 'clipboard', '*', data)
local reply = { 'OK', name, updated, expires }
remember(KEYS[6], ARGV[7], ARGV[8], reply)
return answer(reply)
