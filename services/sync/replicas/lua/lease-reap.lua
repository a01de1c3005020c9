-- Claims a dead replica for a reaper, which ends its lease. With `counter`, claims it only while its counter is the one
-- that stood still. Without, claims it only while it has no lease and its reaper is still the one that was found dead
-- ('': it has none, because the store lost both). A replica that stops leaves itself to the reapers in the same way.
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
