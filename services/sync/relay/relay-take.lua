-- The receiver's connection has taken bytes: lets go of them, and gives the sender room.
-- uses: relay/relay
-- KEYS[1] state
-- KEYS[2] bytes
-- ARGV[1] token of the reader; '' for an acknowledgement, which is the device's
-- ARGV[2] taken up to here
-- ARGV[3] keep from here
-- ARGV[4] ms to live; an acknowledgement leaves that as it is
-- RETURNS OK, '1' | '0': another reads now, channel to ring or '', up to where everything was taken or ''
local s = redis.call('HMGET', KEYS[1], 'r', 'taken', 'ww', 'wc', 'got', 'skips')
if not s[2] or (ARGV[1] ~= '' and s[1] ~= ARGV[1]) then return { 'OK', '0', '', '' } end
if ARGV[1] ~= '' then renew(KEYS, ARGV[4]) end
redis.call('XTRIM', KEYS[2], 'MINID', string.format('%.0f', tonumber(ARGV[3]) + 1))
local position, got = tonumber(ARGV[2]), s[5]
if (ARGV[1] == '' or s[6] ~= '1') and position > tonumber(got) then got = ARGV[2] end
if position > tonumber(s[2]) or got ~= s[5] then
  redis.call('HSET', KEYS[1], 'taken', position > tonumber(s[2]) and ARGV[2] or s[2], 'got', got)
end
if not s[3] or position < tonumber(s[3]) then return { 'OK', '1', '', got } end
redis.call('HDEL', KEYS[1], 'ww')
return { 'OK', '1', s[4], got }
