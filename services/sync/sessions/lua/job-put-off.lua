-- Makes a job of the account due after a time.
-- Keys and arguments: jobPutOff in scripts.ts.
-- uses: clock
-- RETURNS OK
redis.call('ZADD', keys.due, int(now_ms() + delay_ms), job)
return { 'OK' }
