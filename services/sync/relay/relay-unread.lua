-- A request reads no more: its place is free, unless another has taken it.
-- KEYS[1] files of the account that are read
-- ARGV[1] file
-- ARGV[2] token of the request
-- RETURNS OK
local known = redis.call('HGET', KEYS[1], ARGV[1])
if string.match(known or '', '^%d+ (%S+)') == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
return { 'OK' }
