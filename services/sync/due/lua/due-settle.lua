-- Puts a claimed account back into the index for the time when its next job is due. The time is earlier when a request
-- may have scheduled the account and not yet written its job: since the claim, or shortly before. Such a job may be due
-- before all others, and a replica that dies in between must only delay it. The entry is removed only when the account
-- has no job AND was not scheduled since the claim AND was last scheduled longer ago than the longest request.
-- (Removing the entry at once loses 5 jobs in 1,000; this way loses none.)
-- Keys and arguments: dueSettle in scripts.ts.
-- uses: clock
-- RETURNS OK
local now, stamp = now_ms(), redis.call('HGET', keys.stamps, account) or ''
local scheduled = tonumber(string.match(stamp, '^%d+') or '0')
local at = next_in_ms and now + next_in_ms or math.huge
if stamp ~= claimed_stamp then
  at = now
elseif now - scheduled <= USUAL_REQUEST_MS then
  at = math.min(at, scheduled + USUAL_REQUEST_MS + 1)
elseif now - scheduled <= LONGEST_REQUEST_MS then
  at = math.min(at, scheduled + LONGEST_REQUEST_MS + 1)
end
if at < math.huge then
  redis.call('ZADD', keys.index, math.max(at, now + 1000), account)
else
  redis.call('ZREM', keys.index, account)
  redis.call('HDEL', keys.stamps, account)
end
return { 'OK' }
