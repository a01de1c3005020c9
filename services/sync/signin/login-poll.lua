-- One look of a poll. While the request is pending the poll is its waiter, whom a decision rings; a newer poll takes the
-- place. After the approval one poll at a time holds the lease that lets it mint, with a fencing number: only the number
-- that is still the present one can end the request.
-- uses: clock signin/login
-- KEYS[1] login request
-- ARGV[1] SHA-256 of the poll secret
-- ARGV[2] `<channel>\n<poll id>` of the poll
-- ARGV[3] '1' at its first look
-- ARGV[4] ms of the lease
-- RETURNS OK, pending | superseded | minting, expires ms, waiter that was replaced
--         | OK, leased, expires ms, '', fence, fields of the request as field, value, ...
--         | not_found | access_denied | login_expired | login_consumed
local now, login = now_ms(), read_login(KEYS[1])
if not login or login.poll ~= ARGV[1] then return { 'not_found' } end
local over = ended(KEYS[1], login, now)
if over then return { over } end
if login.state == 'pending' then
  local replaced = login.waiter and login.waiter ~= ARGV[2] and login.waiter or ''
  if replaced ~= '' and ARGV[3] ~= '1' then return { 'OK', 'superseded', login.expires, '' } end
  redis.call('HSET', KEYS[1], 'waiter', ARGV[2])
  return { 'OK', 'pending', login.expires, replaced }
end
if tonumber(login.lease or '0') > now then return { 'OK', 'minting', login.expires, '' } end
local fence = int(tonumber(login.fence) + 1)
redis.call('HSET', KEYS[1], 'fence', fence, 'lease', int(now + tonumber(ARGV[4])))
local reply = { 'OK', 'leased', login.expires, '', fence }
for field, value in pairs(login) do
  reply[#reply + 1] = field
  reply[#reply + 1] = value
end
return reply
