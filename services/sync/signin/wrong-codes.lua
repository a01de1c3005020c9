-- Counts wrong approval codes of one account, or only looks.
-- uses: clock
-- KEYS[1] wrong codes of the account
-- ARGV[1] how many are allowed
-- ARGV[2] seconds after which they are forgotten
-- ARGV[3] '1' to count one more
-- RETURNS OK | rate_limited, limit, ms
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
if ARGV[3] == '1' then
  count = redis.call('INCR', KEYS[1])
  if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
  return { 'OK' }
end
if count >= tonumber(ARGV[1]) then
  return { 'rate_limited', ARGV[1], tostring(math.max(1, redis.call('PTTL', KEYS[1]))) }
end
return { 'OK' }
