-- Ends a lease: the request is consumed or denied, or approved as before. The same again, after a lost answer, gets the
-- first answer.
-- uses: clock signin/login
-- KEYS[1] login request
-- ARGV[1] fencing number of the lease
-- ARGV[2] consumed | denied | approved
-- RETURNS OK, '1' | '0' (another lease came after this one, or it was ended)
local login = read_login(KEYS[1])
if not login or login.fence ~= ARGV[1] then return { 'OK', '0' } end
if login.state ~= 'approved' then return { 'OK', login.state == ARGV[2] and '1' or '0' } end
if ARGV[2] == 'approved' then redis.call('HDEL', KEYS[1], 'lease') else bury(KEYS[1], ARGV[2]) end
return { 'OK', '1' }
