-- Replaces what is stored of a signing key by the same, sealed; nothing when it is something else by now.
-- Keys and arguments: keysSeal in scripts.ts.
-- RETURNS OK, '1' | '0' when it was not what the caller had read
if redis.call('HGET', keys.signing_keys, key) ~= before then return { 'OK', '0' } end
redis.call('HSET', keys.signing_keys, key, stored)
return { 'OK', '1' }
