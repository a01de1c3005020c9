-- Writes a new login request.
--
--   pending --approve--> approved --consumed by one poll--> consumed
--      |  \--deny--> denied                                    (all of them: after their time a tombstone of 600 s)
--      +--its time is over--> expired
--
-- uses: clock
-- KEYS[1] login request
-- ARGV[1] ms to live
-- ARGV[2] ms that it is remembered after that
-- ARGV[3...] field, value, ...: poll and code (SHA-256 of the secrets), name, type, address, agent, device, id
-- RETURNS OK, created ms, expires ms
local now = now_ms()
local expires = now + tonumber(ARGV[1])
redis.call('HSET', KEYS[1], 'state', 'pending', 'created', int(now), 'expires', int(expires), 'fence', '0', unpack(ARGV, 3))
redis.call('PEXPIREAT', KEYS[1], int(expires + tonumber(ARGV[2])))
return { 'OK', int(now), int(expires) }
