-- Adds a signing key after the newest one. If two brokers add a key at once, one of them succeeds.
-- Keys and arguments: keysAdd in scripts.ts.
-- RETURNS OK, '1' | '0' (another key was the newest)
if (redis.call('HGET', keys.signing_keys, 'newest') or '') ~= newest then return { 'OK', '0' } end
redis.call('HSET', keys.signing_keys, key, stored, 'newest', key)
return { 'OK', '1' }
