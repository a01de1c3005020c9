-- Writes a device row. A taken name gets a suffix (` 2`, ` 3`, ...), and its base is cut to fit. A name is taken, too,
-- when it looks the same as another, or when an open stream without a device has it. A device that already has its name
-- keeps it.
-- Row: name \n type \n created_ms \n session id \n session end_ms
-- Keys and arguments: deviceAdd in scripts.ts.
-- uses: clock routes log devices/names presence/version push/push push/queue
-- RETURNS OK, row, added ('1' | '0'), jobs to push at once, one a line | device_limit; OK alone: nothing was done, and the
--         account has to be scheduled first (push-queue.ts)
local now = now_ms()
local is_back = mode == 'lost' or mode == 'kept'
local existing = redis.call('HGET', keys.devices, device)
if existing and mode == 'new' then return { 'OK', existing, '0', '' } end
if not existing and not is_back and must_schedule(keys, pushes) then return { 'OK' } end
local old_name, old_kind, created = string.match(existing or '', '^([^\n]*)\n([^\n]*)\n([^\n]*)')
local flat, open = redis.call('HGETALL', keys.devices), open_routes(keys.routes, now)
if not existing and #flat >= 2 * LIMITS.devicesPerAccount then return { 'device_limit' } end
local name, number = wanted, 1
if existing and is_back then name = old_name end
local taken = name ~= old_name and looks_taken(flat, device, open) or {}
while taken[looks_of(name)] do
  number = number + 1
  local suffix = ' ' .. number
  name = string.gsub(string.sub(wanted, 1, LIMITS.deviceNameChars - #suffix), '%s+$', '') .. suffix
end
local kind = existing and mode == 'lost' and old_kind or wanted_kind
local row = table.concat({ name, kind, created or int(now), session, session_end }, '\n')
if row == existing then return { 'OK', row, '0', '' } end
redis.call('HSET', keys.devices, device, row)
if session_end ~= '0' then redis.call('ZADD', keys.due, session_end, 'session:' .. device) end
if existing and name == old_name and kind == old_kind then return { 'OK', row, '0', '' } end
for i = 2, #open, 2 do
  -- A stream of the device may be open while its row is put back.
  if open[i] == device then redis.call('HSET', keys.presence, device, '1' .. int(now)) end
end
local data = '{"device":{"device_id":"' .. device .. '","name":' .. cjson.encode(name) .. ',"type":"' .. kind .. '"}}'
if existing and name ~= old_name then
  append_and_notify(keys, open, now, random, 'device:renamed', '*', data)
elseif not existing and not is_back then
  append_and_notify(keys, open, now, random, 'device:added', '!' .. device, data)
  for i = 1, pushes == 'scheduled' and #flat or 0, 2 do enqueue_push(keys, now, 0, 'device', flat[i], device, device) end
end
raise_unread_version(keys, open, now)
return { 'OK', row, existing and '0' or '1', table.concat(PUSH_NOW, '\n') }
