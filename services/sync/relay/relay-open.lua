-- A request begins, or only looks: where the file is, and whom the request replaces. One that would send from elsewhere
-- than the end only looks.
-- uses: relay/relay
-- KEYS[1] state
-- KEYS[2] bytes
-- ARGV[1] generation that the record tells
-- ARGV[2] w: to send | r: to read | -: to look
-- ARGV[3] token of the request
-- ARGV[4] its channel
-- ARGV[5] where it sends or reads from, '' for others
-- ARGV[6] ms to live, '' to leave that as it is: who only looks keeps nothing alive
-- ARGV[7] where a reader begins it needs nothing before this
-- RETURNS OK, lost | newer | here, generation, end, oldest byte kept, taken, base, channel of the one replaced or ''
local side = ARGV[2]
local s = redis.call('HMGET', KEYS[1], 'g', 'base', 'taken', side .. 'c', 'got')
local g = s[1] or '-1'
if tonumber(g) > tonumber(ARGV[1]) then return { 'OK', 'newer', g } end
local last, kept = nil, nil
if g == ARGV[1] then last, kept = extent(KEYS[2]) end
if not last then return { 'OK', 'lost', ARGV[1] } end
if ARGV[6] ~= '' then renew(KEYS, ARGV[6]) end
if side == '-' or (side == 'w' and ARGV[5] ~= last) then return { 'OK', 'here', g, last, kept, s[3], s[2], '' } end
local taken = s[3]
redis.call('HDEL', KEYS[1], side .. 'w')
redis.call('HSET', KEYS[1], side, ARGV[3], side .. 'c', ARGV[4])
if side == 'r' then
  redis.call('HSET', KEYS[1], 'skips', tonumber(ARGV[5]) > tonumber(s[5]) and '1' or '0')
  if tonumber(ARGV[5]) > tonumber(taken) and tonumber(ARGV[5]) >= tonumber(kept) then
    taken = ARGV[5]
    redis.call('HSET', KEYS[1], 'taken', taken)
    -- The sender has more room from here on: what nobody needs goes before it comes.
    redis.call('XTRIM', KEYS[2], 'MINID', string.format('%.0f', tonumber(ARGV[7]) + 1))
  end
end
return { 'OK', 'here', g, last, kept, taken, s[2], s[4] or '' }
