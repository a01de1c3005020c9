-- Uses an invite, once. In its place the account keeps the login request that was made with it. The inviting device
-- gets an event. If the answer is lost, the same call comes again and announces the event again, because the
-- announcement that the first call returned was lost with its answer.
-- Keys and arguments: inviteTake in scripts.ts.
-- uses: clock routes
-- RETURNS OK | not_found (the invite is unknown, used or expired, or its device is gone)
local now, field, taken = now_ms(), 'invite:' .. invite, 'request:' .. request
local device = string.match(redis.call('HGET', keys.invites, taken) or '', '^[^\n]+')
if not device then
  local inviter, expires = string.match(redis.call('HGET', keys.invites, field) or '', '^([^\n]*)\n(%d+)')
  if not inviter or now >= tonumber(expires) then return { 'not_found' } end
  if redis.call('HEXISTS', keys.devices, inviter) == 0 then return { 'not_found' } end
  redis.call('HDEL', keys.invites, field)
  redis.call('HSET', keys.invites, taken, inviter .. '\n' .. request_expires .. '\n' .. data)
  device = inviter
end
local payload = table.concat({ BUS.unlogged, account_of(keys.routes), 'signin:requested', device, data }, '\n')
notify_all(routes_to_notify(keys.routes, now), 'signin:requested', payload)
return { 'OK' }
