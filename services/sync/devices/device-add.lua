-- Adds a device row, or finds it. A taken name gets a suffix: ` 2`, ` 3`, ..., the base cut to fit 32 characters.
-- Row: name \n type \n created_ms \n session id \n session end_ms
-- uses: clock routes log presence
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] presence
-- ARGV[1] device id
-- ARGV[2] wanted name
-- ARGV[3] type
-- ARGV[4] 32 random bits
-- ARGV[5] devices per account
-- ARGV[6] '1' for a device that is new, '0' for one whose row was lost: nobody is told of an addition then
-- RETURNS OK, row, added ('1' | '0') | device_limit
local keys, now = { routes = KEYS[2], log = KEYS[3], presence = KEYS[4] }, now_ms()
local existing = redis.call('HGET', KEYS[1], ARGV[1])
if existing then return answer({ 'OK', existing, '0' }) end
local taken, count = {}, 0
for _, row in ipairs(redis.call('HVALS', KEYS[1])) do
  taken[string.match(row, '^[^\n]*')] = true
  count = count + 1
end
if count >= tonumber(ARGV[5]) then return answer({ 'device_limit' }) end
local name, number = ARGV[2], 1
while taken[name] do
  number = number + 1
  local suffix = ' ' .. number
  name = string.gsub(string.sub(ARGV[2], 1, 32 - #suffix), '%s+$', '') .. suffix
end
local row = table.concat({ name, ARGV[3], int(now), '', '0' }, '\n')
redis.call('HSET', KEYS[1], ARGV[1], row)
local rows = read_routes(keys.routes, now)
if ARGV[6] == '1' then
  local device = '{"device":{"device_id":"' .. ARGV[1] .. '","name":' .. cjson.encode(name) .. ',"type":"' .. ARGV[3] .. '"}}'
  append_and_ring(keys, rows, now, ARGV[4], 'device:added', '!' .. ARGV[1], device)
end
raise_version(keys, rows, now)
return answer({ 'OK', row, '1' })
