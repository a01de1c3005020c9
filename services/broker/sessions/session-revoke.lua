-- Ends a session for good. Doing it again is the same.
-- uses: clock sessions/session
-- KEYS[1] session
-- KEYS[2] index
-- ARGV[1] id
-- ARGV[2] app that asks
-- ARGV[3] subject
-- ARGV[4] reason
-- RETURNS OK, '1' ended now | '0' before | not_found
local s, now = read_session(KEYS[1]), now_ms()
if not s or s.app ~= ARGV[2] or s.subject ~= ARGV[3] then return { 'not_found' } end
if s.revoked then return { 'OK', '0' } end
revoke(KEYS[1], s, ARGV[4], now)
-- It stays in the index as long as its record: then both are forgotten together with its meta.
redis.call('ZADD', KEYS[2], int(now + KEEP_MS), ARGV[1] .. ' ' .. s.meta)
return { 'OK', '1' }
