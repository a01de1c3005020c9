-- Opens the session without a device that a login gives, and stores the user's name and roles.
-- Keys and arguments: sessionOpen in scripts.ts.
-- uses: clock sessions/session
-- RETURNS OK, now, session.., user..
local now = now_ms()
local s = { app = app, subject = subject, meta = '', label = '', scope = 'full', persist = 'once',
  created = int(now), active = int(now), ends = int(now + tonumber(ttl_ms)) }
trim(keys.index, keys.metas, now)
for field, value in pairs(s) do redis.call('HSET', keys.session, field, value) end
redis.call('HSET', keys.session, 'sliding', '0', 'ttl', ttl_ms, 'secret', digest)
redis.call('HSET', keys.user, 'name', name, 'roles', roles)
keep(keys, id, s)
return reply_of(now, id, s, keys.user)
