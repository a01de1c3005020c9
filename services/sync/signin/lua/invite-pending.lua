-- Reads the login requests that were made with invites of a device and are neither decided nor expired, as events.
-- Keys and arguments: invitePending in scripts.ts.
-- uses: clock
-- RETURNS OK, events as JSON
local now, found = now_ms(), {}
local flat = redis.call('HGETALL', keys.invites)
for i = 1, #flat, 2 do
  local owner, expires, data = string.match(flat[i + 1], '^([^\n]*)\n(%d+)\n(.*)$')
  if data ~= '' and owner == device and now < tonumber(expires) then found[#found + 1] = data end
end
return { 'OK', found }
