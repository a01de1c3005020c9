-- Counts wrong approval codes of one account. A try is counted before it is made, and given back when it was right: so
-- that many at once are not more than five.
-- uses: clock
-- KEYS[1] wrong codes of the account
-- ARGV[1] how many are allowed
-- ARGV[2] seconds after which they are forgotten
-- ARGV[3] take | give back
-- RETURNS OK | rate_limited, limit, ms
if ARGV[3] == 'give back' then
  if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('DECR', KEYS[1]) <= 0 then redis.call('DEL', KEYS[1]) end
  return { 'OK' }
end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
if tonumber(redis.call('GET', KEYS[1])) <= tonumber(ARGV[1]) then return { 'OK' } end
redis.call('DECR', KEYS[1])
return { 'rate_limited', ARGV[1], tostring(math.max(1, redis.call('PTTL', KEYS[1]))) }
