-- A stream has closed. Its row stays as closed for a minute, so that an attach of it that arrives late is refused.
-- Keys and arguments: streamDetach in scripts.ts.
-- uses: clock routes
-- RETURNS OK
local now = now_ms()
local text = redis.call('HGET', keys.routes, stream)
local mine = text and parse_route(stream, text, now)
if not (mine and mine.closed > 0) then
  local opened = mine and mine.opened or now
  write_route(keys.routes, {
    id = stream, channel = channel, device = device, generation = generation, seen = now, opened = opened, closed = now,
  })
  redis.call('EXPIRE', keys.routes, ROUTES_SECONDS)
end
return { 'OK' }
