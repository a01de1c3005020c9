-- The transfers that a device has not accepted and that a stream starting at a position does not get from the log.
-- uses: clock
-- KEYS[1] inbox
-- KEYS[2] log
-- ARGV[1] device
-- ARGV[2] position of the stream
-- ARGV[3] window in ms: older ones are not announced again
-- RETURNS OK, transfer id, ...
local now, start, reply = now_ms(), tonumber(string.match(ARGV[2], '^%d+')), { 'OK' }
for _, member in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[1] .. '+', '(' .. ARGV[1] .. ',')) do
  local log_id, id = string.match(member, '%+([^:]*):(.*)$')
  local at = tonumber(string.match(log_id, '^%d+'))
  local comes_by_log = at > start and #redis.call('XRANGE', KEYS[2], log_id, log_id) == 1
  if now - at <= tonumber(ARGV[3]) and not comes_by_log then reply[#reply + 1] = id end
end
return reply
