-- Raises this replica's counter and returns everybody's. A counter that is gone is not made again: the replica was
-- taken for dead (or the store lost everything), and must come back under a new id.
-- KEYS[1] replicas: id -> counter
-- KEYS[2] reaping: id of a dead replica -> id of its reaper
-- ARGV[1] replica id
-- RETURNS OK, renewed ('1' | '0'), replicas (id, counter, ...), reaping (dead, reaper, ...)
local renewed = redis.call('HEXISTS', KEYS[1], ARGV[1])
if renewed == 1 then redis.call('HINCRBY', KEYS[1], ARGV[1], 1) end
return { 'OK', tostring(renewed), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }
