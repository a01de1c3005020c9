-- Reads a request for a poll. While the request is pending, the poll is its waiter, which a decision notifies, until a newer
-- poll replaces it. After the approval one poll at a time holds the lease that lets it mint, with a fencing number. Only
-- the present number can end the request.
-- Keys and arguments: loginPoll in scripts.ts.
-- uses: clock signin/login
-- RETURNS OK, pending | superseded | minting, expires ms, replaced waiter
--         | OK, leased, expires ms, '', fence, fields of the request as field, value, ...
--         | not_found | access_denied | login_expired | login_consumed
local now, login, flat = now_ms(), read_login(keys.login)
if not login or login.poll ~= poll_digest then return { 'not_found' } end
local over = ended(keys.login, login, now)
if over then return { over } end
if login.state == 'pending' then
  local replaced = login.waiter and login.waiter ~= waiter and login.waiter or ''
  if replaced ~= '' and not is_first then return { 'OK', 'superseded', login.expires, '' } end
  redis.call('HSET', keys.login, 'waiter', waiter)
  return { 'OK', 'pending', login.expires, replaced }
end
if tonumber(login.lease or '0') > now then return { 'OK', 'minting', login.expires, '' } end
local fence = int(tonumber(login.fence) + 1)
redis.call('HSET', keys.login, 'fence', fence, 'lease', int(now + LEASE_MS))
return { 'OK', 'leased', login.expires, '', fence, unpack(flat) }
