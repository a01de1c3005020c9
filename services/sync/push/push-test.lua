-- Owes a device a test notification.
-- uses: clock rate push owing
-- KEYS[1] push
-- KEYS[2] due
-- KEYS[3] rate
-- ARGV[1] device
-- ARGV[2] id of the notification
-- ARGV[3] rate limit, 0: off
-- ARGV[4] seconds of the rate's window
-- RETURNS OK, facts to be run at once | not_found: no subscription that works | rate_limited, limit, ms
local over = over_rate(KEYS[3], tonumber(ARGV[3]), tonumber(ARGV[4]))
if over then return over end
if not owe_push({ push = KEYS[1], due = KEYS[2] }, now_ms(), 0, 'test', ARGV[1], '', ARGV[2]) then return { 'not_found' } end
return { 'OK', PUSH_NOW }
