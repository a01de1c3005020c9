-- Adds an account to the set of a replica that holds a stream of it: its reaper reconciles the accounts in there.
-- Keys and arguments: accountAdd in scripts.ts.
-- RETURNS OK
redis.call('SADD', keys.accounts, account)
redis.call('EXPIRE', keys.accounts, ACCOUNTS_SECONDS)
return { 'OK' }
