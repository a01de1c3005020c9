-- Approves or denies a pending login request, once: compare-and-set. An approved one has no more time than it had.
-- uses: clock signin/login
-- KEYS[1] login request
-- KEYS[2] wrong codes of the account for it
-- ARGV[1] SHA-256 of the approval code; '' to deny without it
-- ARGV[2] wrong codes after which the account is refused; 0: they are neither counted nor limited
-- ARGV[3] operation id: the same again, after a lost answer, gets the first answer
-- ARGV[4] approved | denied
-- ARGV[5...] field, value, ...: user, account, device and session of the approver, scope, persist
-- RETURNS OK, decided, waiter to ring or '' | OK, limited, ms until it ends, ms that it lives
--         | not_found | scope_not_allowed | already_decided | login_expired | login_consumed
local now, login = now_ms(), read_login(KEYS[1])
if not login then return { 'not_found' } end
local refusal = ARGV[1] ~= '' and refuse_code(login, now, ARGV[1], KEYS[2], tonumber(ARGV[2]), ARGV[3])
if refusal then return refusal end
if login.decision == ARGV[3] then return { 'OK', 'decided', login.waiter or '' } end
local over = ended(KEYS[1], login, now)
if over == 'access_denied' then return { 'already_decided' } end
if over then return { over } end
if login.state == 'approved' then return { 'already_decided' } end
local fields = {}
for i = 5, #ARGV, 2 do fields[ARGV[i]] = ARGV[i + 1] end
local native = login.type ~= 'browser' and login.type ~= 'shortcut'
if ARGV[4] == 'approved' and native and fields.scope ~= 'full' then return { 'scope_not_allowed' } end
redis.call('HSET', KEYS[1], 'decision', ARGV[3])
if ARGV[4] == 'denied' then
  bury(KEYS[1], 'denied')
else
  redis.call('HSET', KEYS[1], 'state', 'approved', 'approved_at', int(now), unpack(ARGV, 5))
end
return { 'OK', 'decided', login.waiter or '' }
