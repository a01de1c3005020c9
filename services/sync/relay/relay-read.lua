-- A request reads a file, or waits for it: one of the account's places for such. The newest of a file is in force.
-- uses: clock
-- KEYS[1] files of the account that are read
-- KEYS[2] files of the account that hold bytes: a place that the file has there lasts as long as its bytes
-- KEYS[3] files of the account that are kept without a place
-- ARGV[1] file
-- ARGV[2] token of the request
-- ARGV[3] its channel
-- ARGV[4] places
-- ARGV[5] ms after which the place is free again
-- ARGV[6] ms that bytes live
-- ARGV[7] '1': the request begins | '0': it goes on
-- RETURNS OK, '1' | '0': another reads now, channel of the one replaced or ''
--         | relay_busy
-- First, since a store that is full refuses a script whose first write may need memory.
redis.call('PEXPIRE', KEYS[3], ARGV[6])
local now = now_ms()
local flat, others, known = redis.call('HGETALL', KEYS[1]), 0, nil
for i = 1, #flat, 2 do
  if flat[i] == ARGV[1] then known = flat[i + 1]
  elseif tonumber(string.match(flat[i + 1], '^%d+')) > now then others = others + 1
  else redis.call('HDEL', KEYS[1], flat[i]) end
end
local token, channel = string.match(known or '', '^%d+ (%S+) (.*)$')
if ARGV[7] == '0' and token and token ~= ARGV[2] then return { 'OK', '0', '' } end
if not known and others >= tonumber(ARGV[4]) then return { 'relay_busy' } end
redis.call('HSET', KEYS[1], ARGV[1], int(now + ARGV[5]) .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if redis.call('ZADD', KEYS[2], 'XX', 'CH', int(now + ARGV[6]), ARGV[1]) == 1 then redis.call('PEXPIRE', KEYS[2], ARGV[6]) end
return { 'OK', '1', token and token ~= ARGV[2] and channel or '' }
