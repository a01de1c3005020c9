-- Takes a lease.
-- Keys and arguments: leaseStart in scripts.ts.
-- RETURNS OK
redis.call('HSET', keys.replicas, replica, 1)
return { 'OK' }
