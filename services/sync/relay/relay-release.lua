-- Gives places back.
-- KEYS[1] files of the account
-- ARGV[..] files
-- RETURNS OK
redis.call('ZREM', KEYS[1], unpack(ARGV))
return { 'OK' }
