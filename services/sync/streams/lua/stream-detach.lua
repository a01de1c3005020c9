-- Marks the row of a stream that has closed. The row stays for a time, so that a late attach of the stream is refused.
-- Keys and arguments: streamDetach in scripts.ts.
-- uses: clock routes route-rows
-- RETURNS OK
local before = redis.call('HGET', keys.routes, stream)
if before and is_closed(before) then return { 'OK' } end
local now = int(now_ms())
local opened = before and string.match(before, '\n(%d+)\n0$') or now
local row = { id = stream, channel = channel, device = device, attach_number = attach_number, opened = opened }
write_route(keys.routes, row, now, now)
-- The attach that wrote the row before has set the lifetime.
if not before then redis.call('EXPIRE', keys.routes, ROUTES_SECONDS) end
return { 'OK' }
