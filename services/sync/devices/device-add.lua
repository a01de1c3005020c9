-- Writes a device row. A taken name gets a suffix: ` 2`, ` 3`, ..., the base cut to fit 32 characters.
-- Row: name \n type \n created_ms \n session id \n session end_ms
-- uses: clock routes log presence push owing
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] presence
-- KEYS[5] due
-- KEYS[6] push
-- ARGV[1] device id
-- ARGV[2] wanted name
-- ARGV[3] type
-- ARGV[4] 32 random bits
-- ARGV[5] devices per account
-- ARGV[6] new: a missing device is added and told of | lost: its row is put back, nobody is told of an addition
--         | kept: as lost, and its type is known: an existing device takes it
--         | minted: as new, and an existing device takes the name, type and session
-- ARGV[7] session id, '' when it is not known
-- ARGV[8] session end in ms, 0 when it is not known
-- ARGV[9] pushes to the others: noted (in the index of due things) | ask | off
-- RETURNS OK, row, added ('1' | '0'), facts to be run at once | device_limit; OK, '': nothing was done, the account has
--         subscriptions and has to be noted first
local keys, now = { routes = KEYS[2], log = KEYS[3], presence = KEYS[4], due = KEYS[5], push = KEYS[6] }, now_ms()
local device, wanted, mode = ARGV[1], ARGV[2], ARGV[6]
local is_back = mode == 'lost' or mode == 'kept'
local existing = redis.call('HGET', KEYS[1], device)
if existing and mode == 'new' then return answer({ 'OK', existing, '0', {} }) end
if not existing and not is_back and ARGV[9] == 'ask' and redis.call('EXISTS', keys.push) == 1 then return answer({ 'OK', '' }) end
local old_name, old_kind, created = string.match(existing or '', '^([^\n]*)\n([^\n]*)\n([^\n]*)')
local taken, count, flat = {}, 0, redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  if flat[i] ~= device then
    taken[string.match(flat[i + 1], '^[^\n]*')] = true
    count = count + 1
  end
end
if not existing and count >= tonumber(ARGV[5]) then return answer({ 'device_limit' }) end
local name, number = wanted, 1
while taken[name] do
  number = number + 1
  local suffix = ' ' .. number
  name = string.gsub(string.sub(wanted, 1, 32 - #suffix), '%s+$', '') .. suffix
end
if existing and is_back then name = old_name end
local kind = existing and mode == 'lost' and old_kind or ARGV[3]
local row = table.concat({ name, kind, created or int(now), ARGV[7], ARGV[8] }, '\n')
if row == existing then return answer({ 'OK', row, '0', {} }) end
redis.call('HSET', KEYS[1], device, row)
if ARGV[8] ~= '0' then redis.call('ZADD', KEYS[5], ARGV[8], 'session:' .. device) end
if existing and name == old_name and kind == old_kind then return answer({ 'OK', row, '0', {} }) end
local rows = read_routes(keys.routes, now)
for _, route in ipairs(rows) do
  -- Put back while a stream of it is open.
  if route.open and route.device == device then redis.call('HSET', keys.presence, device, '1' .. int(now)) end
end
local data = '{"device":{"device_id":"' .. device .. '","name":' .. cjson.encode(name) .. ',"type":"' .. kind .. '"}}'
if existing and name ~= old_name then
  append_and_ring(keys, rows, now, ARGV[4], 'device:renamed', '*', data)
elseif not existing and not is_back then
  append_and_ring(keys, rows, now, ARGV[4], 'device:added', '!' .. device, data)
  for i = 1, ARGV[9] == 'noted' and #flat or 0, 2 do owe_push(keys, now, 0, 'device', flat[i], device, device) end
end
raise_version(keys, rows, now)
return answer({ 'OK', row, existing and '0' or '1', PUSH_NOW })
