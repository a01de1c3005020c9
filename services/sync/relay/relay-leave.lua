-- A request ends, unless another has taken its place. Its token stays as '': one that it had replaced must not take its
-- absence for a state that was lost and made anew.
-- Keys and arguments: relayLeave in scripts.ts.
-- RETURNS OK
if redis.call('HGET', keys.state, side) ~= token then return { 'OK' } end
redis.call('HDEL', keys.state, side .. 'c', side .. 'w')
redis.call('HSET', keys.state, side, '')
return { 'OK' }
