-- Takes or renews the reservation of a request among the files that the account reads. Only the newest request of a
-- file counts.
-- Keys and arguments: relayRead in scripts.ts.
-- uses: clock
-- RETURNS OK, '1' | '0' (another request reads now), channel of the replaced request or ''
--         | relay_busy
-- This write comes first, because a full store refuses a script whose first write may need memory.
redis.call('PEXPIRE', keys.kept, IDLE_MS)
local now = now_ms()
local flat, others, known = redis.call('HGETALL', keys.reads), 0, nil
for i = 1, #flat, 2 do
  if flat[i] == file then known = flat[i + 1]
  elseif tonumber(string.match(flat[i + 1], '^%d+')) > now then others = others + 1
  else redis.call('HDEL', keys.reads, flat[i]) end
end
local reader, reads_at = string.match(known or '', '^%d+ (%S+) (.*)$')
if not begins and reader and reader ~= token then return { 'OK', '0', '' } end
if not known and others >= LIMITS.relayReads then return { 'relay_busy' } end
redis.call('HSET', keys.reads, file, int(now + READ_PLACE_MS) .. ' ' .. token .. ' ' .. channel)
redis.call('PEXPIRE', keys.reads, READ_PLACE_MS)
if redis.call('ZADD', keys.files, 'XX', 'CH', int(now + IDLE_MS), file) == 1 then redis.call('PEXPIRE', keys.files, IDLE_MS) end
return { 'OK', '1', reader and reader ~= token and reads_at or '' }
