-- Takes a lease, and writes the settings that must agree on all replicas. Removes the settings of replicas without a
-- lease.
-- Keys and arguments: leaseStart in scripts.ts.
-- RETURNS OK
redis.call('HSET', keys.replicas, replica, 1)
for _, id in ipairs(redis.call('HKEYS', keys.settings)) do
  if redis.call('HEXISTS', keys.replicas, id) == 0 then redis.call('HDEL', keys.settings, id) end
end
redis.call('HSET', keys.settings, replica, settings)
return { 'OK' }
