-- Replaces the stored form of a signing key by its sealed form, unless the stored form has changed meanwhile.
-- Keys and arguments: keysSeal in scripts.ts.
-- RETURNS OK, '1' | '0' (the key had changed since the caller read it)
if redis.call('HGET', keys.signing_keys, key) ~= before then return { 'OK', '0' } end
redis.call('HSET', keys.signing_keys, key, stored)
return { 'OK', '1' }
