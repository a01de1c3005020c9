-- Puts the next ring in force, by compare-and-set with the ring whose member signed it. The same ring again, after a lost
-- answer, gets the same answer. A ring proves that a member is active, so it cancels every announced deletion.
-- Keys and arguments: keyringPut in scripts.ts.
-- uses: clock routes log operation keys/ring
-- RETURNS OK, put | OK, moved, n in force
local now = now_ms()
local top, is_checked = ring_in_force(keys, replaces)
local is_again = top == n and redis.call('HGET', keys.keyring, 'hash') == hash
if not is_again then
  if top ~= n - 1 or not is_checked then return { 'OK', 'moved', int(top) } end
  local stored = redis.call('HMGET', keys.keyring, 'first', 'bytes')
  local first, bytes = tonumber(stored[1] or n), tonumber(stored[2] or '0') + #ring
  while first < n and (n - first >= LIMITS.rings or bytes > LIMITS.ringsBytes) do
    bytes = bytes - redis.call('HSTRLEN', keys.keyring, int(first))
    redis.call('HDEL', keys.keyring, int(first))
    first = first + 1
  end
  redis.call('HSET', keys.keyring, 'n', int(n), 'hash', hash, 'first', int(first), 'bytes', int(bytes), int(n), ring)
  cancel_deletions(keys)
  announce_keys(keys, now, random, n)
end
RECALLED = is_again
local reply = { 'OK', 'put' }
if remember_seconds ~= '0' then remember(keys.operation, '', remember_seconds, reply) end
return reply
