-- Claims a dead replica for a reaper, and ends the lease of the dead replica. With `counter`, it claims only while that
-- replica still has the counter that stood still. Without `counter`, it claims only while the replica has no lease and
-- its reaper is still the one that was found dead ('': no reaper, because the store lost both). A replica that stops
-- leaves itself to the reapers in the same way.
-- Keys and arguments: leaseReap in scripts.ts.
-- RETURNS OK, claimed ('1' | '0')
if counter ~= '' then
  if redis.call('HGET', keys.replicas, dead) ~= counter then return { 'OK', '0' } end
  redis.call('HDEL', keys.replicas, dead)
  redis.call('HDEL', keys.settings, dead)
elseif (redis.call('HGET', keys.reaping, dead) or '') ~= reaper or redis.call('HEXISTS', keys.replicas, dead) == 1 then
  return { 'OK', '0' }
end
redis.call('HSET', keys.reaping, dead, new_reaper)
return { 'OK', '1' }
