-- Claims accounts whose time has come, for LEASE_MS. A replica that dies with a claim only delays them.
-- Keys and arguments: dueClaim in scripts.ts.
-- uses: clock
-- RETURNS OK, account, stamp, account, stamp, ...
local now, reply = now_ms(), { 'OK' }
for _, account in ipairs(redis.call('ZRANGEBYSCORE', keys.index, '-inf', now, 'LIMIT', 0, count)) do
  redis.call('ZADD', keys.index, now + LEASE_MS, account)
  reply[#reply + 1] = account
  reply[#reply + 1] = redis.call('HGET', keys.stamps, account) or ''
end
return reply
