-- The transfers of a device, newest first, as positions in its list.
-- KEYS[1] inbox
-- ARGV[1] device
-- ARGV[2] `<created>-<transfer>` before which to go on, '' at first
-- ARGV[3] how many
-- RETURNS OK, <created>-<transfer>, ...
local from = ARGV[2] == '' and '(' .. ARGV[1] .. '>' or '(' .. ARGV[1] .. '=' .. ARGV[2]
local members = redis.call('ZREVRANGEBYLEX', KEYS[1], from, '[' .. ARGV[1] .. '=', 'LIMIT', 0, ARGV[3])
local reply = { 'OK' }
for _, member in ipairs(members) do reply[#reply + 1] = string.sub(member, #ARGV[1] + 2) end
return reply
