-- The sender has no room, or doubts: either there is some now, or it is rung when there is.
-- Keys and arguments: relayWaitWrite in scripts.ts.
-- uses: relay/relay
-- RETURNS OK, taken ('' when another sends now), channel of a reader that waits or ''
local s = redis.call('HMGET', keys.state, 'w', 'g', 'taken', 'rw', 'rc')
if s[1] ~= token or s[2] ~= generation then return { 'OK', '', '' } end
renew(KEYS, IDLE_MS)
if tonumber(s[3]) < tonumber(wanted) then redis.call('HSET', keys.state, 'ww', wanted, 'wc', channel) end
if s[4] then redis.call('HDEL', keys.state, 'rw') end
return { 'OK', s[3], s[4] and s[5] or '' }
