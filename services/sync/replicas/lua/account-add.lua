-- Adds an account to the set of a replica that holds a stream of it. The replica's reaper reconciles the accounts in
-- the set.
-- Keys and arguments: accountAdd in scripts.ts.
-- RETURNS OK
redis.call('SADD', keys.accounts, account)
redis.call('EXPIRE', keys.accounts, ACCOUNTS_SECONDS)
return { 'OK' }
