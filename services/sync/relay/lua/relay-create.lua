-- Makes a generation of a file. Drops the generation before it. The sender has to begin again; the reader stays.
-- Keys and arguments: relayCreate in scripts.ts.
-- uses: relay/relay
-- RETURNS OK, channel of the sender or '', of the reader or ''; both '' if this generation or a later one exists
local s = redis.call('HMGET', keys.state, 'g', 'wc', 'rc', 'got')
if s[1] and tonumber(s[1]) >= tonumber(generation) and redis.call('EXISTS', keys.bytes) == 1 then return { 'OK', '', '' } end
if s[1] and tonumber(s[1]) > tonumber(generation) then return { 'OK', '', '' } end
redis.call('DEL', keys.before, keys.bytes)
redis.call('HDEL', keys.state, 'w', 'wc', 'ww', 'rw')
-- A reader that asks for bytes from here on has the bytes before, unless the state records that bytes were skipped.
local skips = s[4] and tonumber(s[4]) < tonumber(base)
redis.call('HSET', keys.state, 'g', generation, 'base', base, 'end', base, 'taken', base)
redis.call('HSET', keys.state, 'got', skips and s[4] or base, 'skips', skips and '1' or '0')
begin_stream(keys.bytes, base)
renew({ keys.state, keys.bytes }, IDLE_MS)
return { 'OK', s[2] or '', s[3] or '' }
