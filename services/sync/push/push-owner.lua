-- Whose a push target is. The highest fence wins, also over what a failover brought back, and no clock that was set back
-- gives one twice while the owner is known.
-- uses: clock
-- KEYS[1] owner: fence \n account \n device
-- ARGV[1] account
-- ARGV[2] device
-- ARGV[3] fence of the registration; '' claims the target anew
-- ARGV[4] ms to remember it
-- RETURNS OK, fence of the owner, account and device of the owner before (claiming) or of the owner (asking)
local fence, account, device = string.match(redis.call('GET', KEYS[1]) or '', '^(.-)\n(.-)\n(.*)$')
local mine = tonumber(ARGV[3]) or math.max(tonumber(fence or '0') + 1, now_ms())
if fence and tonumber(fence) > mine then return { 'OK', fence, account, device } end
redis.call('SET', KEYS[1], table.concat({ int(mine), ARGV[1], ARGV[2] }, '\n'), 'PX', ARGV[4])
if ARGV[3] ~= '' then return { 'OK', int(mine), ARGV[1], ARGV[2] } end
return { 'OK', int(mine), account or '', device or '' }
