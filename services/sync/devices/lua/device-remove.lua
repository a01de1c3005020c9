-- Removes a device with everything that waits for it: row, mailbox, subscriptions. If there was a row, an event tells the
-- other devices.
-- Keys and arguments: deviceRemove in scripts.ts.
-- uses: clock routes log presence/version messages/mail push/push
-- RETURNS OK, removed ('1' | '0')
local now, row = now_ms(), redis.call('HGET', keys.devices, device)
if expected ~= '' and row ~= expected then return { 'OK', '0' } end
drop_members(keys, device, redis.call('ZRANGEBYLEX', keys.inbox, '[' .. device .. ':', '(' .. device .. ';'))
redis.call('ZREM', keys.due, 'session:' .. device)
drop_registrations(keys, device, '')
redis.call('HDEL', keys.devices, device)
local was_announced = redis.call('HDEL', keys.presence, device) == 1
if not row and not was_announced then return { 'OK', '0' } end
local open = routes_to_notify(keys.routes, now)
if row then
  local data = '{"device_id":"' .. device .. '","reason":"' .. reason .. '"}'
  append_and_notify(keys, open, now, random, 'device:removed', '!' .. device, data)
end
raise_unread_version(keys, open, now)
return { 'OK', row and '1' or '0' }
