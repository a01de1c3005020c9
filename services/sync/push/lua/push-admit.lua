-- Checks whether a device may register for pushes now, and reads what it has registered.
-- Keys and arguments: pushAdmit in scripts.ts.
-- uses: clock rate push/push
-- RETURNS OK, target as JSON or '' | device_required | rate_limited, limit, ms
if redis.call('HEXISTS', keys.devices, device) == 0 then return { 'device_required' } end
local over = over_rate(keys.rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
local r = read_registration(keys, platform, device)
return { 'OK', r and r.target or '' }
