-- Claims a dead replica: only while its counter is the one that was seen standing still, or, when it is being reaped
-- already, while that reaper is the one that was seen dead; or when it has neither a counter nor a reaper, because the
-- store lost them. An exiting replica hands itself over the same way.
-- Keys and arguments: leaseReap in scripts.ts.
-- RETURNS OK, claimed ('1' | '0')
if counter ~= '' then
  if redis.call('HGET', keys.replicas, dead) ~= counter then return { 'OK', '0' } end
  redis.call('HDEL', keys.replicas, dead)
elseif (redis.call('HGET', keys.reaping, dead) or '') ~= reaper or redis.call('HEXISTS', keys.replicas, dead) == 1 then
  return { 'OK', '0' }
end
redis.call('HSET', keys.reaping, dead, new_reaper)
return { 'OK', '1' }
