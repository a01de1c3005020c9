-- Counts wrong approval codes of one account. Who has made too many is refused before the next try, and of many at once
-- those beyond the limit are refused after theirs.
-- uses: clock
-- KEYS[1] wrong codes of the account
-- ARGV[1] how many are allowed
-- ARGV[2] seconds after which they are forgotten
-- ARGV[3] look | count
-- RETURNS OK | rate_limited, limit, ms
local allowed = tonumber(ARGV[1])
local wrong = tonumber(redis.call('GET', KEYS[1]) or '0')
local isOver = wrong >= allowed
if ARGV[3] == 'count' and not isOver then
  if redis.call('INCR', KEYS[1]) == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
end
if not isOver then return { 'OK' } end
return { 'rate_limited', ARGV[1], tostring(math.max(1, redis.call('PTTL', KEYS[1]))) }
