-- Finds out how much space there is for a sender that had none, or that may have been replaced. If there is too little,
-- registers the sender to be notified when there is enough.
-- Keys and arguments: relayWaitWrite in scripts.ts.
-- uses: relay/relay
-- RETURNS OK, taken ('': another request sends now), channel of a waiting reader or ''
local s = redis.call('HMGET', keys.state, 'w', 'g', 'taken', 'rw', 'rc')
if s[1] ~= token or s[2] ~= generation then return { 'OK', '', '' } end
renew(KEYS, IDLE_MS)
if tonumber(s[3]) < tonumber(wanted) then redis.call('HSET', keys.state, 'ww', wanted, 'wc', channel) end
if s[4] then redis.call('HDEL', keys.state, 'rw') end
return { 'OK', s[3], s[4] and s[5] or '' }
