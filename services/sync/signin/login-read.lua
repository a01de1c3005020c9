-- What is asked for, for whoever has the code. A wrong code counts against the request: five, and it is denied.
-- uses: clock login
-- KEYS[1] login request
-- ARGV[1] SHA-256 of the approval code
-- ARGV[2] wrong codes that deny it
-- RETURNS OK, now, field, value, ... | not_found (also for a wrong code) | login_expired | login_consumed | already_decided
local now, login = now_ms(), read_login(KEYS[1])
if not login or not is_code(KEYS[1], login, ARGV[1], tonumber(ARGV[2])) then return { 'not_found' } end
local over = ended(KEYS[1], login, now)
if over == 'access_denied' then return { 'already_decided' } end
if over then return { over } end
if login.state == 'approved' then return { 'already_decided' } end
local reply = { 'OK', int(now) }
for field, value in pairs(login) do
  reply[#reply + 1] = field
  reply[#reply + 1] = value
end
return reply
