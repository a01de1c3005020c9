-- Deletes the owner of a push target, unless the target was claimed again since.
-- Keys and arguments: pushRelease in scripts.ts.
-- RETURNS OK
local fence = string.match(redis.call('GET', keys.owner) or '', '^(.-)\n')
if fence and tonumber(fence) <= tonumber(dropped_fence) then redis.call('DEL', keys.owner) end
return { 'OK' }
