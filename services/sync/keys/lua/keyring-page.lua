-- Reads the rings after the number `after`, the list of guests, and the announced deletions.
-- Keys and arguments: keyringPage in scripts.ts.
-- uses: clock
-- RETURNS OK, n, list of guests or '', ms at which the rings and then the account are removed or '', rings
--         | not_found
local stored = redis.call('HMGET', keys.keyring, 'n', 'first', 'guests', 'deletion:keys', 'deletion:account')
if not stored[1] then return { 'not_found' } end
local n, rings = tonumber(stored[1]), {}
local from = math.max(after + 1, tonumber(stored[2]))
for number = from, math.min(n, from + LIMITS.ringsPerPage - 1) do
  rings[#rings + 1] = redis.call('HGET', keys.keyring, int(number))
end
return { 'OK', int(n), stored[3] or '', stored[4] or '', stored[5] or '', rings }
