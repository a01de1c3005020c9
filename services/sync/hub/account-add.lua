-- Notes that a replica holds a stream of an account, for the reaper that may have to clean up after it.
-- KEYS[1] accounts of the replica
-- ARGV[1] account
-- ARGV[2] seconds after which the set is forgotten, counted anew from here
-- RETURNS OK
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return { 'OK' }
