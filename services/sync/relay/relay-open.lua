-- A request begins, or only looks: where the file is, and whom the request replaces.
-- uses: relay
-- KEYS[1] state
-- KEYS[2] bytes
-- ARGV[1] generation that the record tells
-- ARGV[2] w: to send | r: to read | -: to look
-- ARGV[3] token of the request
-- ARGV[4] its channel
-- ARGV[5] where it reads from, '' for others
-- ARGV[6] ms to live
-- RETURNS OK, lost | newer | here, generation, end, oldest byte kept, taken, base, channel of the one replaced or ''
local s = redis.call('HMGET', KEYS[1], 'g', 'base', 'taken', ARGV[2] .. 'c')
local g = s[1] or '-1'
if tonumber(g) > tonumber(ARGV[1]) then return { 'OK', 'newer', g } end
local last, kept = nil, nil
if g == ARGV[1] then last, kept = extent(KEYS[2]) end
if not last then return { 'OK', 'lost', ARGV[1] } end
local taken, replaced = s[3], s[4] or ''
if ARGV[2] ~= '-' then
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[3], ARGV[2] .. 'c', ARGV[4])
  redis.call('HDEL', KEYS[1], ARGV[2] .. 'w')
end
if ARGV[2] == 'r' and tonumber(ARGV[5]) > tonumber(taken) and tonumber(ARGV[5]) >= tonumber(kept) then
  taken = ARGV[5]
  redis.call('HSET', KEYS[1], 'taken', taken)
end
renew(KEYS, ARGV[6])
return { 'OK', 'here', g, last, kept, taken, s[2], replaced }
