-- Notes that a replica holds a stream of an account, for the reaper that may have to clean up after it.
-- Keys and arguments: accountAdd in scripts.ts.
-- RETURNS OK
redis.call('SADD', keys.accounts, account)
redis.call('EXPIRE', keys.accounts, ACCOUNTS_SECONDS)
return { 'OK' }
