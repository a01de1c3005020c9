-- Opens the session without device that a login leaves, and notes who the user is.
-- uses: clock sessions/session
-- KEYS[1] session
-- KEYS[2] index
-- KEYS[3] metas
-- KEYS[4] user
-- ARGV[1] id
-- ARGV[2] app
-- ARGV[3] subject
-- ARGV[4] lifetime in ms
-- ARGV[5] digest of the secret
-- ARGV[6] display name
-- ARGV[7] roles, comma-separated
-- RETURNS OK, now, session.., user..
local now = now_ms()
local s = { app = ARGV[2], subject = ARGV[3], meta = '', label = '', scope = 'full', persist = 'once',
  created = int(now), active = int(now), ends = int(now + tonumber(ARGV[4])) }
trim(KEYS[2], KEYS[3], now)
for field, value in pairs(s) do redis.call('HSET', KEYS[1], field, value) end
redis.call('HSET', KEYS[1], 'sliding', '0', 'ttl', ARGV[4], 'secret', ARGV[5])
redis.call('HSET', KEYS[4], 'name', ARGV[6], 'roles', ARGV[7])
keep({ session = KEYS[1], index = KEYS[2], metas = KEYS[3], user = KEYS[4] }, ARGV[1], s)
return told(now, ARGV[1], s, KEYS[4])
