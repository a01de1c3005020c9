-- Removes a device with everything that waits for it: row, mailbox, lists, subscriptions. The others are told when there was a row.
-- uses: clock routes log presence mail push
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] presence
-- KEYS[5] mail
-- KEYS[6] inbox
-- KEYS[7] due
-- KEYS[8] push
-- ARGV[1] device id
-- ARGV[2] 32 random bits
-- ARGV[3] the row as it was read, to remove only that; '' to remove whatever is there
-- RETURNS OK, removed ('1' | '0')
local keys = { routes = KEYS[2], log = KEYS[3], presence = KEYS[4], mail = KEYS[5], inbox = KEYS[6] }
local device, now, row = ARGV[1], now_ms(), redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[3] ~= '' and row ~= ARGV[3] then return answer({ 'OK', '0' }) end
drop_members(keys, device, redis.call('ZRANGEBYLEX', keys.inbox, '[' .. device .. ':', '(' .. device .. ';'))
redis.call('ZREMRANGEBYLEX', keys.inbox, '[' .. device .. '+', '(' .. device .. ',')
redis.call('ZREMRANGEBYLEX', keys.inbox, '[' .. device .. '=', '(' .. device .. '>')
redis.call('ZREM', KEYS[7], 'session:' .. device)
drop_registrations({ push = KEYS[8], due = KEYS[7] }, device, '')
redis.call('HDEL', KEYS[1], device)
local was_announced = redis.call('HDEL', keys.presence, device) == 1
if not row and not was_announced then return answer({ 'OK', '0' }) end
local rows = read_routes(keys.routes, now)
if row then append_and_ring(keys, rows, now, ARGV[2], 'device:removed', '!' .. device, '{"device_id":"' .. device .. '"}') end
raise_version(keys, rows, now)
return answer({ 'OK', row and '1' or '0' })
