-- A request reads no more: its place is free, unless another has taken it.
-- Keys and arguments: relayUnread in scripts.ts.
-- RETURNS OK
local known = redis.call('HGET', keys.reads, file)
if string.match(known or '', '^%d+ (%S+)') == token then redis.call('HDEL', keys.reads, file) end
return { 'OK' }
