-- Forgets whose a push target is, unless somebody has claimed it since.
-- KEYS[1] owner
-- ARGV[1] fence of the registration that was dropped
-- RETURNS OK
local fence = string.match(redis.call('GET', KEYS[1]) or '', '^(.-)\n')
if fence and tonumber(fence) <= tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
return { 'OK' }
