-- Removes all rings, the guests and the announcements, if a member of the ring in force signed that, the announced removal
-- is due, or the account is erased. Without rings it does nothing. A due removal does not show that a member wants the
-- account, so an announced end of the account stays.
-- Keys and arguments: keyringDrop in scripts.ts.
-- uses: clock routes log keys/ring
-- RETURNS OK, dropped | OK, moved, n in force | OK, early
local now = now_ms()
local top, is_checked = ring_in_force(keys, hash)
local account_at = false
if why == 'due' then
  local at = redis.call('HGET', keys.keyring, 'deletion:keys')
  if at and tonumber(at) > now then return { 'OK', 'early' } end
  if not at then
    redis.call('ZREM', keys.due, 'keys:keys')
    return { 'OK', 'early' }
  end
  account_at = redis.call('HGET', keys.keyring, 'deletion:account')
elseif why == 'signed' and top > 0 and not is_checked then
  return { 'OK', 'moved', int(top) }
end
cancel_deletions(keys)
if redis.call('DEL', keys.keyring) == 1 then announce_keys(keys, now, random, 0) end
if account_at then
  redis.call('HSET', keys.keyring, 'deletion:account', account_at)
  redis.call('ZADD', keys.due, account_at, 'keys:account')
end
return { 'OK', 'dropped' }
