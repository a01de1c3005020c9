-- Finds out what there is for a reader that found nothing, or that may have been replaced. If there is nothing,
-- registers the reader to be notified when there is.
-- Keys and arguments: relayWaitRead in scripts.ts.
-- uses: relay/relay
-- RETURNS OK, lost | newer | replaced | go | wait, generation; after wait also '1': a sender has begun | '0': not yet
local s = redis.call('HMGET', keys.state, 'g', 'r', 'got', 'w')
if not s[1] then return { 'OK', 'lost', generation } end
if s[2] and s[2] ~= token then return { 'OK', 'replaced', s[1] } end
renew(KEYS, IDLE_MS)
if not s[2] then
  -- The state was lost and recreated by a request that did not know of this reader.
  local skips = tonumber(position) > tonumber(s[3]) and '1' or '0'
  redis.call('HSET', keys.state, 'r', token, 'rc', channel, 'skips', skips)
end
if s[1] ~= generation then return { 'OK', tonumber(s[1]) > tonumber(generation) and 'newer' or 'lost', s[1] } end
if redis.call('EXISTS', keys.bytes) == 0 then return { 'OK', 'lost', s[1] } end
if #redis.call('XRANGE', keys.bytes, '(' .. position, '+', 'COUNT', 1) > 0 then return { 'OK', 'go', s[1] } end
redis.call('HSET', keys.state, 'rw', wanted, 'rc', channel)
return { 'OK', 'wait', s[1], s[4] and '1' or '0' }
