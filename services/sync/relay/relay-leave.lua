-- A request ends, unless another has taken its place.
-- KEYS[1] state
-- ARGV[1] w | r
-- ARGV[2] token
-- RETURNS OK
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1], ARGV[1] .. 'c', ARGV[1] .. 'w') end
return { 'OK' }
