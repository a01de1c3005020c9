-- Returns the offers that a device has not accepted, without those that a stream from this position gets from the log.
-- Keys and arguments: transferPending in scripts.ts.
-- uses: clock transfers/offers
-- RETURNS OK, transfer id, ...
local now, start, reply = now_ms(), tonumber(string.match(position, '^%d+')), { 'OK' }
for _, member in ipairs(pending_offers(keys.offers, device)) do
  local log_id, id = string.match(member, ' pending ([^:]*):(.*)$')
  local at = tonumber(string.match(log_id, '^%d+'))
  local comes_by_log = at > start and #redis.call('XRANGE', keys.log, log_id, log_id) == 1
  if now - at <= REDELIVERY_MS and not comes_by_log then reply[#reply + 1] = id end
end
return reply
