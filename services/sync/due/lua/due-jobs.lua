-- Returns a page of the due jobs of an account, and when the next job will be due.
-- Keys and arguments: dueJobs in scripts.ts.
-- uses: clock
-- RETURNS OK, ms until the next job is due or '', job, job, ...
local now = now_ms()
local jobs = redis.call('ZRANGEBYSCORE', keys.due, '-inf', now, 'LIMIT', passed, JOBS_AT_ONCE)
local next_at = redis.call('ZRANGEBYSCORE', keys.due, '(' .. int(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
return { 'OK', next_at and int(tonumber(next_at) - now) or '', unpack(jobs) }
