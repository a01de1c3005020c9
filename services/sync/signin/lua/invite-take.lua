-- Uses an invite, once. In its place the account keeps the login request that was made with it. The inviting device
-- gets an event.
-- Keys and arguments: inviteTake in scripts.ts.
-- uses: clock routes
-- RETURNS OK | not_found (the invite is unknown, used or expired, or its device is gone)
local now, field = now_ms(), 'invite:' .. invite
-- This is the same call again, after a lost answer.
if redis.call('HEXISTS', keys.invites, 'request:' .. request) == 1 then return { 'OK' } end
local stored = redis.call('HGET', keys.invites, field)
local device, expires = string.match(stored or '', '^([^\n]*)\n(%d+)')
if not device or now >= tonumber(expires) then return { 'not_found' } end
if redis.call('HEXISTS', keys.devices, device) == 0 then return { 'not_found' } end
redis.call('HDEL', keys.invites, field)
redis.call('HSET', keys.invites, 'request:' .. request, device .. '\n' .. request_expires .. '\n' .. data)
local payload = table.concat({ BUS.unlogged, account_of(keys.routes), 'signin:requested', device, data }, '\n')
notify_all(routes_to_notify(keys.routes, now), 'signin:requested', payload)
return { 'OK' }
