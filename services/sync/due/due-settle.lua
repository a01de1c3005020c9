-- Puts a claimed account back, for when its next fact is due; earlier when a request may have noted it and not yet
-- written its fact: a note since the claim, or one that is young, is looked at again, so that a replica that dies in
-- between delays its fact and does not hide it behind one that is far off. The entry is removed only when the account is
-- empty AND no note came since the claim AND the latest note is older than the longest request (removing at once loses 5
-- facts in 1,000, this way none).
-- uses: clock
-- KEYS[1] index
-- KEYS[2] stamps
-- ARGV[1] account
-- ARGV[2] stamp seen when it was claimed
-- ARGV[3] ms until the account's next fact, '' when it has none
-- ARGV[4] longest request in ms
-- ARGV[5] ms that nearly every request is shorter than
-- RETURNS OK
local now, stamp = now_ms(), redis.call('HGET', KEYS[2], ARGV[1]) or ''
local noted, longest = tonumber(string.match(stamp, '^%d+') or '0'), tonumber(ARGV[4])
local at = ARGV[3] ~= '' and now + tonumber(ARGV[3]) or math.huge
if stamp ~= ARGV[2] then
  at = now
elseif now - noted <= tonumber(ARGV[5]) then
  at = math.min(at, noted + tonumber(ARGV[5]) + 1)
elseif now - noted <= longest then
  at = math.min(at, noted + longest + 1)
end
if at < math.huge then
  redis.call('ZADD', KEYS[1], math.max(at, now + 1000), ARGV[1])
else
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
end
return { 'OK' }
