-- Replaces the list of guests by one that a member of the ring in force signed; with `compares` only the list `replaces`.
-- Keys and arguments: keyringGuests in scripts.ts.
-- uses: clock routes log operation keys/ring
-- RETURNS OK, put | OK, moved, n in force
local now = now_ms()
local top, is_checked = ring_in_force(keys, hash)
local stored = redis.call('HMGET', keys.keyring, 'guests', 'guests_hash')
local is_again = is_checked and stored[1] == guests
if not is_again then
  local is_other = compares and (stored[2] or '') ~= replaces
  if not is_checked or is_other then return { 'OK', 'moved', int(top) } end
  redis.call('HSET', keys.keyring, 'guests', guests, 'guests_hash', guests_hash)
  announce_keys(keys, now, random, top)
end
RECALLED = is_again
local reply = { 'OK', 'put' }
if remember_seconds ~= '0' then remember(keys.operation, '', remember_seconds, reply) end
return reply
