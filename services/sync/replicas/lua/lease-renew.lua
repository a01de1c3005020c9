-- Renews the lease of a replica by raising its counter, and reads all leases. Does not recreate a lost lease: the
-- others took the replica for dead, or the store lost the lease, and the replica must come back under a new id.
-- Keys and arguments: leaseRenew in scripts.ts.
-- uses: clock
-- RETURNS OK, renewed ('1' | '0'), replicas (id, counter, ...), reaping (dead, reaper, ...), version or '', time in ms
local renewed = redis.call('HEXISTS', keys.replicas, replica)
if renewed == 1 then redis.call('HINCRBY', keys.replicas, replica, 1) end
local version = redis.call('GET', keys.revoked_version) or ''
return { 'OK', tostring(renewed), redis.call('HGETALL', keys.replicas), redis.call('HGETALL', keys.reaping), version, int(now_ms()) }
