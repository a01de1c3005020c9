-- The transfers of a device, newest first, as positions in its list.
-- Keys and arguments: transferList in scripts.ts.
-- RETURNS OK, <created>-<transfer>, ...
local from = cursor == '' and '(' .. device .. '>' or '(' .. device .. '=' .. cursor
local members = redis.call('ZREVRANGEBYLEX', keys.inbox, from, '[' .. device .. '=', 'LIMIT', 0, count)
local reply = { 'OK' }
for _, member in ipairs(members) do reply[#reply + 1] = string.sub(member, #device + 2) end
return reply
