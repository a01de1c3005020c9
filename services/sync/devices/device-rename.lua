-- Renames a device and tells the account: an event in the log, and a new presence version because names are in it.
-- uses: clock routes log operation presence rate
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] presence
-- KEYS[5] operation
-- KEYS[6] rate, of the account
-- ARGV[1] device of the caller
-- ARGV[2] device to rename
-- ARGV[3] new name
-- ARGV[4] 32 random bits
-- ARGV[5] fingerprint of the request
-- ARGV[6] seconds to remember the operation
-- ARGV[7] rate limit of 60 s, 0: off
-- RETURNS OK, row, state or '' | device_required | not_found | name_taken | rate_limited, limit, ms
--         | idempotency_key_reused
local keys = { devices = KEYS[1], routes = KEYS[2], log = KEYS[3], presence = KEYS[4] }
local first, refusal = recall(KEYS[5], ARGV[5])
if refusal then return answer({ refusal }) end
if first then return answer(first) end
local over = over_rate(KEYS[6], tonumber(ARGV[7]), 60)
if over then return answer(over) end
if redis.call('HEXISTS', keys.devices, ARGV[1]) == 0 then return answer({ 'device_required' }) end
local row = redis.call('HGET', keys.devices, ARGV[2])
if not row then return answer({ 'not_found' }) end
local flat = redis.call('HGETALL', keys.devices)
for i = 1, #flat, 2 do
  if flat[i] ~= ARGV[2] and string.match(flat[i + 1], '^[^\n]*') == ARGV[3] then return answer({ 'name_taken' }) end
end
local old, rest = string.match(row, '^([^\n]*)(\n.*)$')
if old ~= ARGV[3] then
  local now = now_ms()
  row = ARGV[3] .. rest
  redis.call('HSET', keys.devices, ARGV[2], row)
  local kind = string.match(rest, '^\n([^\n]*)')
  local data = '{"device":{"device_id":"' .. ARGV[2] .. '","name":' .. cjson.encode(ARGV[3]) .. ',"type":"' .. kind .. '"}}'
  local rows = read_routes(keys.routes, now)
  append_and_ring(keys, rows, now, ARGV[4], 'device:renamed', '*', data)
  raise_version(keys, rows, now)
end
local reply = { 'OK', row, redis.call('HGET', keys.presence, ARGV[2]) or '' }
remember(KEYS[5], ARGV[5], ARGV[6], reply)
return answer(reply)
