-- Replaces the clipboard. Only this key holds the content: neither the log nor the event does.
-- Value: updated ms \n expires ms \n JSON
-- Keys and arguments: clipboardSet in scripts.ts.
-- uses: clock routes log operation rate
-- RETURNS OK, shown name, updated ms, expires ms | device_required | rate_limited, limit, ms | store_unavailable
local now = now_ms()
local first = recall(keys.operation, '')
if first then return first end
local before, unknown = logged_before(keys.log, now, random, 'clipboard', resent_after_ms)
if unknown then return { unknown } end
if before then
  local told = cjson.decode(before[1].data)
  return { 'OK', told.source_device_name, int(told.updated_at), int(told.expires_at) }
end
local row = device ~= '' and redis.call('HGET', keys.devices, device)
if device ~= '' and not row then return { 'device_required' } end
local over = over_rates(keys.rate, keys.account_rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end

if name == '' then name = string.match(row, '^[^\n]*') end
local updated, expires = int(now), int(now + TTL_MS)
local source = '"source_device_id":' .. (device == '' and 'null' or '"' .. device .. '"')
  .. ',"source_device_name":' .. cjson.encode(name) .. ',"updated_at":' .. updated .. ',"expires_at":' .. expires
local json = '{"content":' .. content .. ',"content_type":"text/plain",' .. source .. '}'
redis.call('SET', keys.clipboard, updated .. '\n' .. expires .. '\n' .. json, 'PX', int(TTL_MS))
redis.call('ZADD', keys.due, expires, 'clipboard')
local data = '{' .. source .. ',"bytes":' .. bytes .. '}'
append_and_notify(keys, routes_to_notify(keys.routes, now), now, random, 'clipboard', '*', data)
local reply = { 'OK', name, updated, expires }
if resent_after_ms then remember(keys.operation, '', '0', reply) end
return reply
