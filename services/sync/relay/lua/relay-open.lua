-- Begins a request, or only finds out where the file is (side '-'). A sender that would go on at another offset than
-- the end only finds out.
-- Keys and arguments: relayOpen in scripts.ts.
-- uses: relay/relay
-- RETURNS OK, lost | newer | here, generation, end, oldest kept byte, taken, base, channel of a replaced request or ''
local s = redis.call('HMGET', keys.state, 'g', 'base', 'taken', side .. 'c', 'got')
local g = s[1] or '-1'
if tonumber(g) > tonumber(generation) then return { 'OK', 'newer', g } end
local last, kept = nil, nil
if g == generation then last, kept = extent(keys.bytes) end
if not last then return { 'OK', 'lost', generation } end
if keeps_alive then renew(KEYS, IDLE_MS) end
if side == '-' or (side == 'w' and from ~= last) then return { 'OK', 'here', g, last, kept, s[3], s[2], '' } end
local taken = s[3]
redis.call('HDEL', keys.state, side .. 'w')
redis.call('HSET', keys.state, side, token, side .. 'c', channel)
if side == 'r' then
  redis.call('HSET', keys.state, 'skips', tonumber(from) > tonumber(s[5]) and '1' or '0')
  if tonumber(from) > tonumber(taken) and tonumber(from) >= tonumber(kept) then
    taken = from
    redis.call('HSET', keys.state, 'taken', taken)
    -- The sender has more space from now on, so bytes that nobody needs are removed first.
    redis.call('XTRIM', keys.bytes, 'MINID', string.format('%.0f', keep_from + 1))
  end
end
return { 'OK', 'here', g, last, kept, taken, s[2], s[4] or '' }
