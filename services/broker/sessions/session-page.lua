-- Sessions of one account and app by end and id; some of them may be over.
-- uses: clock
-- KEYS[1] index
-- ARGV[1] end of the first one in ms, at least now
-- ARGV[2] how many
-- RETURNS OK, now, id, end in ms, id, end in ms, ..
local now = now_ms()
local from = int(math.max(now, tonumber(ARGV[1])))
local flat = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local reply = { 'OK', int(now) }
for i = 1, #flat, 2 do
  reply[#reply + 1] = string.match(flat[i], '^%S+')
  reply[#reply + 1] = int(tonumber(flat[i + 1]))
end
return reply
