-- Ends a request, unless another has replaced it. The token becomes '' and is not deleted, because a request that it
-- had replaced would take a missing token for a lost state.
-- Keys and arguments: relayLeave in scripts.ts.
-- RETURNS OK
if redis.call('HGET', keys.state, side) ~= token then return { 'OK' } end
redis.call('HDEL', keys.state, side .. 'c', side .. 'w')
redis.call('HSET', keys.state, side, '')
return { 'OK' }
