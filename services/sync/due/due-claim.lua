-- Claims accounts whose time has come, for `lease` ms: a replica that dies with a claim only delays them.
-- uses: clock
-- KEYS[1] index
-- KEYS[2] stamps
-- ARGV[1] how many
-- ARGV[2] lease in ms
-- RETURNS OK, account, stamp, account, stamp, ...
local now, reply = now_ms(), { 'OK' }
for _, account in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])) do
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), account)
  reply[#reply + 1] = account
  reply[#reply + 1] = redis.call('HGET', KEYS[2], account) or ''
end
return reply
