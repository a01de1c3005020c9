-- Renames a device. It appends an event to the log and raises the version of presence, which holds the names. A name is
-- taken, too, when it looks the same as another, or when an open stream without a device has it.
-- Keys and arguments: deviceRename in scripts.ts.
-- uses: clock routes log operation devices/names presence/version rate
-- RETURNS OK, row, state or '' | device_required | not_found | name_taken | rate_limited, limit, ms
--         | store_unavailable
local now = now_ms()
local first = recall(keys.operation, '')
if first then return first end
local before, unknown = logged_before(keys.log, now, random, 'device:renamed', resent_after_ms)
if unknown then return { unknown } end
if before then
  local row = redis.call('HGET', keys.devices, device)
  return row and { 'OK', row, redis.call('HGET', keys.presence, device) or '' } or { 'not_found' }
end
local over = over_rate(keys.rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
if redis.call('HEXISTS', keys.devices, caller) == 0 then return { 'device_required' } end
local row = redis.call('HGET', keys.devices, device)
if not row then return { 'not_found' } end
local old, rest = string.match(row, '^([^\n]*)(\n.*)$')
if old ~= name then
  local open = open_routes(keys.routes, now)
  if looks_taken(redis.call('HGETALL', keys.devices), device, open)[looks_of(name)] then return { 'name_taken' } end
  row = name .. rest
  redis.call('HSET', keys.devices, device, row)
  local kind = string.match(rest, '^\n([^\n]*)')
  local data = '{"device":{"device_id":"' .. device .. '","name":' .. cjson.encode(name) .. ',"type":"' .. kind .. '"}}'
  append_and_notify(keys, open, now, random, 'device:renamed', '*', data)
  raise_unread_version(keys, open, now)
end
local reply = { 'OK', row, redis.call('HGET', keys.presence, device) or '' }
if resent_after_ms then remember(keys.operation, '', '0', reply) end
return reply
