-- The reader found nothing, or doubts: either something came meanwhile, or it is rung when something comes.
-- uses: relay/relay
-- KEYS[1] state
-- KEYS[2] bytes
-- ARGV[1] token
-- ARGV[2] generation
-- ARGV[3] position
-- ARGV[4] end from which on it is worth ringing
-- ARGV[5] ms to live
-- ARGV[6] its channel
-- RETURNS OK, lost | newer | replaced | go | wait, generation; of wait also '1': there was a sender | '0': not yet
local s = redis.call('HMGET', KEYS[1], 'g', 'r', 'got', 'w')
if not s[1] then return { 'OK', 'lost', ARGV[2] } end
if s[2] and s[2] ~= ARGV[1] then return { 'OK', 'replaced', s[1] } end
renew(KEYS, ARGV[5])
if not s[2] then
  -- The state was lost, and somebody made it anew, who does not know of this reader.
  local skips = tonumber(ARGV[3]) > tonumber(s[3]) and '1' or '0'
  redis.call('HSET', KEYS[1], 'r', ARGV[1], 'rc', ARGV[6], 'skips', skips)
end
if s[1] ~= ARGV[2] then return { 'OK', tonumber(s[1]) > tonumber(ARGV[2]) and 'newer' or 'lost', s[1] } end
if redis.call('EXISTS', KEYS[2]) == 0 then return { 'OK', 'lost', s[1] } end
if #redis.call('XRANGE', KEYS[2], '(' .. ARGV[3], '+', 'COUNT', 1) > 0 then return { 'OK', 'go', s[1] } end
redis.call('HSET', KEYS[1], 'rw', ARGV[4], 'rc', ARGV[6])
return { 'OK', 'wait', s[1], s[4] and '1' or '0' }
