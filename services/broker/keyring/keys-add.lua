-- Adds a signing key after the one that is the newest; of two brokers that do so at once, one succeeds.
-- KEYS[1] signing keys
-- ARGV[1] newest key that the caller knows, '' for none
-- ARGV[2] new key
-- ARGV[3] what is stored of it
-- RETURNS OK, '1' | '0' when there was another newest key
if (redis.call('HGET', KEYS[1], 'newest') or '') ~= ARGV[1] then return { 'OK', '0' } end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3], 'newest', ARGV[2])
return { 'OK', '1' }
