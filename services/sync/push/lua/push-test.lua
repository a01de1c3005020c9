-- Enqueues a test notification for a device. (The account is scheduled.)
-- Keys and arguments: pushTest in scripts.ts.
-- uses: clock rate push/push push/queue
-- RETURNS OK, jobs to push at once | not_found (no subscription works) | rate_limited, limit, ms
local over = over_rate(keys.rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
if not enqueue_push(keys, now_ms(), 0, 'test', device, '', id) then return { 'not_found' } end
return { 'OK', PUSH_NOW }
