-- Ends a session for good. May be repeated.
-- Keys and arguments: sessionRevoke in scripts.ts.
-- uses: clock sessions/session
-- RETURNS OK, '1' (ended now) | '0' (had ended before) | not_found
local s, now = read_session(keys.session), now_ms()
if not s or s.app ~= app or s.subject ~= subject then return { 'not_found' } end
if s.revoked then return { 'OK', '0' } end
revoke(keys.session, s, reason, now)
-- The entry in the index stays as long as the record, and is removed together with the meta.
redis.call('ZADD', keys.index, int(now + KEEP_MS), id .. ' ' .. s.meta)
return { 'OK', '1' }
