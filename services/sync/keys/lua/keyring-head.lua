-- Reads the ring in force for a change. It counts against the rate, because the signature check takes longer than this read.
-- Keys and arguments: keyringHead in scripts.ts.
-- uses: clock rate
-- RETURNS OK, n ('0': no ring), hash, ring | rate_limited, limit, ms
local over = over_rates(keys.rate, keys.account_rate, RATE_LIMIT, WINDOW_SECONDS)
if over then return over end
local stored = redis.call('HMGET', keys.keyring, 'n', 'hash')
if not stored[1] then return { 'OK', '0', '', '' } end
return { 'OK', stored[1], stored[2], redis.call('HGET', keys.keyring, stored[1]) }
