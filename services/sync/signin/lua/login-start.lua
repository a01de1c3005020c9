-- Writes a new login request.
--
--   pending --approve--> approved --consumed by one poll--> consumed
--      |  \--deny--> denied                                    (all of them: after their time a tombstone of 600 s)
--      +--its time is over--> expired
--
-- Keys and arguments: loginStart in scripts.ts.
-- uses: clock signin/login
-- RETURNS OK, created ms, expires ms
local now = now_ms()
local expires = now + ttl_ms
redis.call('HSET', keys.login, 'state', 'pending', 'created', int(now), 'expires', int(expires), 'fence', '0', unpack(fields))
redis.call('PEXPIREAT', keys.login, int(expires + TOMBSTONE_MS))
return { 'OK', int(now), int(expires) }
