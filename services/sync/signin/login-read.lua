-- What is asked for, for whoever has the code. A wrong one is not counted here; who sent too many is not told either.
-- uses: clock signin/login
-- KEYS[1] login request
-- KEYS[2] wrong codes of the account for it
-- ARGV[1] SHA-256 of the approval code
-- ARGV[2] wrong codes after which the account is refused
-- RETURNS OK, read, now, field, value, ... | OK, limited, ms until it ends, ms that it lives
--         | not_found (also for a wrong code) | login_expired | login_consumed | already_decided
local now, login = now_ms(), read_login(KEYS[1])
if not login then return { 'not_found' } end
local refusal = refuse_code(login, now, ARGV[1], KEYS[2], tonumber(ARGV[2]), '')
if refusal then return refusal end
local over = ended(KEYS[1], login, now)
if over == 'access_denied' then return { 'already_decided' } end
if over then return { over } end
if login.state == 'approved' then return { 'already_decided' } end
local reply = { 'OK', 'read', int(now) }
for field, value in pairs(login) do
  reply[#reply + 1] = field
  reply[#reply + 1] = value
end
return reply
