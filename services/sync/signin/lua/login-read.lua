-- Reads a request for an account that has the code. It counts no wrong codes, but refuses an account that sent too many.
-- Keys and arguments: loginRead in scripts.ts.
-- uses: clock signin/login
-- RETURNS OK, read, now, field, value, ... | OK, limited, ms until the limit ends, ms that the request lives
--         | not_found (also for a wrong code) | login_expired | login_consumed | already_decided
local now, login, flat = now_ms(), read_login(keys.login)
if not login or not is_of_account(login, account) then return { 'not_found' } end
local refusal = refuse_code(login, now, code_digest, keys.tries, LIMITS.wrongCodes, '')
if refusal then return refusal end
local over = ended(keys.login, login, now)
if over == 'access_denied' then return { 'already_decided' } end
if over then return { over } end
if login.state == 'approved' then return { 'already_decided' } end
return { 'OK', 'read', int(now), unpack(flat) }
