-- Reads sessions of one account and app, ordered by end and id. Some of them may have ended.
-- Keys and arguments: sessionPage in scripts.ts.
-- uses: clock
-- RETURNS OK, now, (id, end in ms) of each session
local now = now_ms()
local from = int(math.max(now, from_ms))
local flat = redis.call('ZRANGEBYSCORE', keys.index, from, '+inf', 'WITHSCORES', 'LIMIT', 0, count)
local reply = { 'OK', int(now) }
for i = 1, #flat, 2 do
  reply[#reply + 1] = string.match(flat[i], '^%S+')
  reply[#reply + 1] = int(tonumber(flat[i + 1]))
end
return reply
