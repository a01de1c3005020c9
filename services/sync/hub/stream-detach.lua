-- A stream has closed. Its row stays as closed for a minute, so that an attach of it that arrives late is refused.
-- uses: clock routes
-- KEYS[1] routes
-- ARGV[1] stream id
-- ARGV[2] channel of the replica
-- ARGV[3] device id or ~name
-- ARGV[4] generation
-- RETURNS OK
local now = now_ms()
local mine = nil
for _, row in ipairs(read_routes(KEYS[1], now)) do
  if row.id == ARGV[1] then mine = row end
end
if not (mine and mine.closed > 0) then
  local opened = mine and mine.opened or now
  write_route(KEYS[1], {
    id = ARGV[1], channel = ARGV[2], device = ARGV[3], generation = tonumber(ARGV[4]), seen = now, opened = opened, closed = now,
  })
  redis.call('EXPIRE', KEYS[1], ROUTES_SECONDS)
end
return answer({ 'OK' })
