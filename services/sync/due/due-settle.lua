-- Puts a claimed account back, for when its next fact is due; earlier when a request may have noted it and not yet
-- written its fact: a note since the claim, or one that is young, is looked at again, so that a replica that dies in
-- between delays its fact and does not hide it behind one that is far off. The entry is removed only when the account is
-- empty AND no note came since the claim AND the latest note is older than the longest request (removing at once loses 5
-- facts in 1,000, this way none).
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
