-- Raises this replica's counter and returns everybody's. A counter that is gone is not made again: the replica was
-- taken for dead (or the store lost everything), and must come back under a new id.
-- uses: clock
-- KEYS[1] replicas: id -> counter
-- KEYS[2] reaping: id of a dead replica -> id of its reaper
-- KEYS[3] version of the revocations
-- ARGV[1] replica id
-- RETURNS OK, renewed ('1' | '0'), replicas (id, counter, ...), reaping (dead, reaper, ...), version or '', time in ms
local renewed = redis.call('HEXISTS', KEYS[1], ARGV[1])
if renewed == 1 then redis.call('HINCRBY', KEYS[1], ARGV[1], 1) end
local version = redis.call('GET', KEYS[3]) or ''
return { 'OK', tostring(renewed), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), version, int(now_ms()) }
