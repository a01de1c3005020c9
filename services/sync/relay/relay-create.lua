-- Begins a generation of a file. What was there is dropped, and its sender has to begin anew; a reader stays.
-- uses: relay/relay
-- KEYS[1] state
-- KEYS[2] bytes of the generation before; the same as KEYS[3] for the first
-- KEYS[3] bytes
-- ARGV[1] generation
-- ARGV[2] offset at which it begins
-- ARGV[3] ms to live
-- RETURNS OK, channel of its sender or '', of its reader or ''; both '' when there is this generation or a later one
local s = redis.call('HMGET', KEYS[1], 'g', 'wc', 'rc', 'got')
if s[1] and tonumber(s[1]) >= tonumber(ARGV[1]) and redis.call('EXISTS', KEYS[3]) == 1 then return { 'OK', '', '' } end
if s[1] and tonumber(s[1]) > tonumber(ARGV[1]) then return { 'OK', '', '' } end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('HDEL', KEYS[1], 'w', 'wc', 'ww', 'rw')
-- Who asks for bytes from here on has those before, unless it was known not to.
local skips = s[4] and tonumber(s[4]) < tonumber(ARGV[2])
redis.call('HSET', KEYS[1], 'g', ARGV[1], 'base', ARGV[2], 'end', ARGV[2], 'taken', ARGV[2])
redis.call('HSET', KEYS[1], 'got', skips and s[4] or ARGV[2], 'skips', skips and '1' or '0')
begin_stream(KEYS[3], ARGV[2])
renew({ KEYS[1], KEYS[3] }, ARGV[3])
return { 'OK', s[2] or '', s[3] or '' }
