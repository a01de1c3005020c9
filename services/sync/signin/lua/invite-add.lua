-- Keeps an invite of a device. Anybody who shows it before it expires may ask this device, and no other, to be let in.
-- Keys and arguments: inviteAdd in scripts.ts.
-- uses: clock rate
-- RETURNS OK, expires ms | device_required | rate_limited, limit, ms
local now = now_ms()
local over = over_rate(keys.rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
if redis.call('HEXISTS', keys.devices, device) == 0 then return { 'device_required' } end
for _, field in ipairs(redis.call('HKEYS', keys.invites)) do
  local expires = string.match(redis.call('HGET', keys.invites, field), '^[^\n]*\n(%d+)')
  if now >= tonumber(expires) then redis.call('HDEL', keys.invites, field) end
end
local expires = int(now + ttl_ms)
redis.call('HSET', keys.invites, 'invite:' .. invite, device .. '\n' .. expires .. '\n')
-- An invite that is used at its last moment becomes a request with a full lifetime.
redis.call('PEXPIRE', keys.invites, ttl_ms + request_ms)
return { 'OK', expires }
