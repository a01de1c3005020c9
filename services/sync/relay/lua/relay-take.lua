-- Records what the receiver has taken: drops bytes that the receiver will not ask for again, and gives the sender
-- space.
-- Keys and arguments: relayTake in scripts.ts.
-- uses: relay/relay
-- RETURNS OK, '1' | '0' (another request reads now), channel to notify or '', end of the taken bytes or '', end of
--         all bytes or ''
local s = redis.call('HMGET', keys.state, 'r', 'taken', 'ww', 'wc', 'got', 'skips', 'end')
if not s[2] or (token ~= '' and s[1] ~= token) then return { 'OK', '0', '', '', '' } end
if token ~= '' then renew(KEYS, live_ms) end
redis.call('XTRIM', keys.bytes, 'MINID', string.format('%.0f', keep_from + 1))
local taken, got = tonumber(position), s[5]
if (token == '' or s[6] ~= '1') and taken > tonumber(got) then got = position end
if taken > tonumber(s[2]) or got ~= s[5] then
  redis.call('HSET', keys.state, 'taken', taken > tonumber(s[2]) and position or s[2], 'got', got)
end
if not s[3] or taken < tonumber(s[3]) then return { 'OK', '1', '', got, s[7] or '' } end
redis.call('HDEL', keys.state, 'ww')
return { 'OK', '1', s[4], got, s[7] or '' }
