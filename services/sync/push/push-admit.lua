-- Whether a device may register for pushes now, and what it has registered.
-- uses: clock rate push
-- KEYS[1] devices
-- KEYS[2] push
-- KEYS[3] rate
-- ARGV[1] device
-- ARGV[2] platform
-- ARGV[3] rate limit, 0: off
-- ARGV[4] seconds of the rate's window
-- RETURNS OK, hash of the target or '', target as JSON or '' | device_required | rate_limited, limit, ms
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return { 'device_required' } end
local over = over_rate(KEYS[3], tonumber(ARGV[3]), tonumber(ARGV[4]))
if over then return over end
local r = read_registration({ push = KEYS[2] }, ARGV[2], ARGV[1])
return { 'OK', r and r.hash or '', r and r.target or '' }
