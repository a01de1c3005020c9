-- Approves or denies a pending login request, once, by compare-and-set. An approval does not extend the request's life.
-- Keys and arguments: loginDecide in scripts.ts.
-- uses: clock signin/login
-- RETURNS OK, decided, waiter to notify or '', account whose invite was used or ''
--         | OK, limited, ms until the limit ends, ms that the request lives
--         | not_found | invalid_request (sealed for a device without keys) | scope_not_allowed | already_decided | login_expired | login_consumed
local now, login = now_ms(), read_login(keys.login)
if not login or not is_of_account(login, account) then return { 'not_found' } end
local refusal = code_digest ~= '' and refuse_code(login, now, code_digest, keys.tries, tries, operation)
if refusal then return refusal end
if login.decision == operation then return { 'OK', 'decided', login.waiter or '', login.inviter or '' } end
local over = ended(keys.login, login, now)
if over == 'access_denied' then return { 'already_decided' } end
if over then return { over } end
if login.state == 'approved' then return { 'already_decided' } end
local given = {}
for i = 1, #fields, 2 do given[fields[i]] = fields[i + 1] end
-- A signed-in device keeps the scope that it has, so its type does not matter.
local native = not login.owner and login.type ~= 'browser' and login.type ~= 'shortcut'
if decision == 'approved' and native and given.scope ~= 'full' then return { 'scope_not_allowed' } end
-- Nobody could open `sealed`, because the device sent no keys.
if given.sealed and not login.keys then return { 'invalid_request' } end
redis.call('HSET', keys.login, 'decision', operation)
if decision == 'denied' then
  end_login(keys.login, 'denied')
else
  redis.call('HSET', keys.login, 'state', 'approved', 'approved_at', int(now), unpack(fields))
end
return { 'OK', 'decided', login.waiter or '', login.inviter or '' }
