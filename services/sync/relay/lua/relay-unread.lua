-- Releases the reservation of a request that has stopped reading, unless another request has it.
-- Keys and arguments: relayUnread in scripts.ts.
-- RETURNS OK
local known = redis.call('HGET', keys.reads, file)
if string.match(known or '', '^%d+ (%S+)') == token then redis.call('HDEL', keys.reads, file) end
return { 'OK' }
