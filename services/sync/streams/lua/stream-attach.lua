-- Attaches an open stream again: writes its route AND returns the end of the log, in one step on the account's slot, so
-- that an append either finds the route or is found here.
-- Keys and arguments: streamAttach in scripts.ts.
-- uses: clock routes route-rows replicas/liveness streams/own-routes log presence/version presence/ended-routes presence/presence
-- RETURNS OK, gone: the stream was closed
--         OK, old: a later attach came first
--         OK, attached, then as declared in scripts.ts
local now = now_ms()
local devices = redis.call('HGETALL', keys.devices)
local rows, closed = read_routes(keys.routes, now, liveness.late_ms)
local orphan_in_ms, dropped = close_orphans(rows, channel, liveness, now)
local before = route_of(rows, stream)
local late = too_late(before, closed[stream], attach_number)
if late then return { 'OK', late } end
local own = { id = stream, channel = channel, device = device, attach_number = attach_number }
write_own(keys.routes, rows, before, own, now)

-- Every position is that of an entry, so an empty log gets an entry that is addressed to nobody.
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', '1')[1]
local top = last and last[1] or append(keys.log, now, random, '', '', '')
redis.call('EXPIRE', keys.log, LOG_SECONDS)

local version, _, on, off, states = reconcile(keys, rows, closed, devices, now, GRACE_MS, liveness.dead)
local newer = tonumber(version) > known_version
local due = redis.call('ZRANGE', keys.due, 0, 0, 'WITHSCORES')[2]
return {
  'OK', 'attached', top, version, newer and devices or '', newer and states or '',
  transitions_of(on, off), orphan_in_ms, dropped, due and int(math.max(0, due - now)) or '',
}
