-- A request ends, unless another has taken its place. Its token stays as '': one that it had replaced must not take its
-- absence for a state that was lost and made anew.
-- KEYS[1] state
-- ARGV[1] w | r
-- ARGV[2] token
-- RETURNS OK
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return { 'OK' } end
redis.call('HDEL', KEYS[1], ARGV[1] .. 'c', ARGV[1] .. 'w')
redis.call('HSET', KEYS[1], ARGV[1], '')
return { 'OK' }
