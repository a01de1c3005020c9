-- Puts a claimed account back. The entry is removed only when the account is empty AND no note came since the claim
-- AND the latest note is older than the longest request: a request that has noted and not yet written its fact must
-- not lose its entry (removing at once loses 5 facts in 1,000, this way none).
-- uses: clock
-- KEYS[1] index
-- KEYS[2] stamps
-- ARGV[1] account
-- ARGV[2] stamp seen when it was claimed
-- ARGV[3] ms until the account's next fact, '' when it has none
-- ARGV[4] longest request in ms
-- RETURNS OK
local now, stamp = now_ms(), redis.call('HGET', KEYS[2], ARGV[1]) or ''
local noted = tonumber(string.match(stamp, '^%d+') or '0')
if stamp == ARGV[2] and ARGV[3] == '' and now - noted > tonumber(ARGV[4]) then
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
elseif ARGV[3] ~= '' then
  redis.call('ZADD', KEYS[1], now + math.max(tonumber(ARGV[3]), 1000), ARGV[1])
elseif stamp == ARGV[2] then
  redis.call('ZADD', KEYS[1], noted + tonumber(ARGV[4]) + 1000, ARGV[1])
else
  redis.call('ZADD', KEYS[1], now + 1000, ARGV[1])
end
return { 'OK' }
