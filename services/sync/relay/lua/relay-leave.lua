-- Ends a request, unless another has replaced it. Its token becomes '' and is not deleted: a request that it had replaced
-- would take a missing token for a state that was lost.
-- Keys and arguments: relayLeave in scripts.ts.
-- RETURNS OK
if redis.call('HGET', keys.state, side) ~= token then return { 'OK' } end
redis.call('HDEL', keys.state, side .. 'c', side .. 'w')
redis.call('HSET', keys.state, side, '')
return { 'OK' }
