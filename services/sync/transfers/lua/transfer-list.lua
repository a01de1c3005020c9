-- Returns a page of a device's transfers, newest first, as entries of its list.
-- Keys and arguments: transferList in scripts.ts.
-- uses: transfers/offers
-- RETURNS OK, <created>-<transfer>, ...
local reply = { 'OK' }
for _, member in ipairs(listed_transfers(keys.offers, device, cursor, count)) do
  reply[#reply + 1] = string.match(member, ' all (.*)$')
end
return reply
