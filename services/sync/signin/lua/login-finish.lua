-- Ends a lease: the request is consumed or denied, or stays approved. The same call again, after a lost answer, gets the
-- first answer.
-- Keys and arguments: loginFinish in scripts.ts.
-- uses: clock signin/login
-- RETURNS OK, '1' | '0' (a later lease exists, or this one was ended)
local login = read_login(keys.login)
if not login or login.fence ~= fence then return { 'OK', '0' } end
if login.state ~= 'approved' then return { 'OK', login.state == outcome and '1' or '0' } end
if outcome == 'approved' then redis.call('HDEL', keys.login, 'lease') else end_login(keys.login, outcome) end
return { 'OK', '1' }
