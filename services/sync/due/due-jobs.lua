-- What is due in an account, a page of it, and when the next thing will be.
-- Keys and arguments: dueFacts in scripts.ts.
-- uses: clock
-- RETURNS OK, ms until the next that is not due yet or '', fact, fact, ...
local now = now_ms()
local jobs = redis.call('ZRANGEBYSCORE', keys.due, '-inf', now, 'LIMIT', passed, JOBS_AT_ONCE)
local next_at = redis.call('ZRANGEBYSCORE', keys.due, '(' .. int(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
return { 'OK', next_at and int(tonumber(next_at) - now) or '', unpack(jobs) }
