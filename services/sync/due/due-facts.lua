-- What is due in an account, a page of it, and when the next thing will be.
-- uses: clock
-- KEYS[1] due
-- ARGV[1] how many
-- ARGV[2] how many to pass over
-- RETURNS OK, ms until the next that is not due yet or '', fact, fact, ...
local now = now_ms()
local facts = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', ARGV[2], ARGV[1])
local next_at = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. int(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
return { 'OK', next_at and int(tonumber(next_at) - now) or '', unpack(facts) }
