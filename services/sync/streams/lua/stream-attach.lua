-- Attaches a stream that opens, or attaches it again: writes its route AND reads the end of the log, in one step on the
-- account's slot, so that an append either finds the route or is found here.
-- Keys and arguments: streamAttach in scripts.ts.
-- uses: clock routes replicas/liveness streams/own-routes streams/stream-quota log streams/position presence/presence messages/mail transfers/offers
-- RETURNS OK, gone: the stream was closed
--         OK, old: a later attach came first
--         OK, busy: the account has as many streams as it may
--         OK, full, channels of the account's other streams: the same, and silent channels were not asked for
--         OK, attached, then as declared in scripts.ts
local now = now_ms()
local has_device = string.sub(device, 1, 1) ~= '~'
local devices, rows = redis.call('HGETALL', keys.devices), read_routes(keys.routes, now, liveness.late_ms)
local orphan_in_ms, dropped = close_orphans(rows, channel, liveness, now)
local mine = route_of(rows, stream)
if mine and mine.closed > 0 then return { 'OK', 'gone' } end
if mine and mine.generation > generation then return { 'OK', 'old' } end
local others = {}
if opening then
  if not has_device and is_name_of(devices, string.sub(device, 2)) then return { 'name_taken' } end
  others = other_streams(rows, stream, liveness)
  local slot = slot_for(others, device)
  if slot ~= 'free' and not liveness.silent then return { 'OK', 'full', channels_of(others, channel) } end
  if slot == 'none' then return { 'OK', 'busy' } end
  supersede(keys.routes, others, device, now)
end

if not mine then
  mine = { id = stream, opened = now }
  rows[#rows + 1] = mine
end
write_own(keys.routes, mine, channel, device, generation, now)
redis.call('EXPIRE', keys.routes, ROUTES_SECONDS)

-- Every position is that of an entry: an empty log gets one for nobody.
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', 1)[1]
local is_at_end = last and last[1] == position
local reason = opening and not is_at_end and lost_reason(keys.log, position, now) or nil
local top = last and last[1] or append(keys.log, now, random, '', '', '')
redis.call('EXPIRE', keys.log, LOG_SECONDS)

-- A connect is announced also where it changes nothing, to whoever else is there: one may be waiting for this device.
local is_awaited = #others > 0 and (not has_device or redis.call('HEXISTS', keys.devices, device) == 1)
local version, _, on, off = reconcile(keys, rows, devices, now, GRACE_MS, liveness.dead, is_awaited, opening and mine)
local newer = tonumber(version) > known_version
local due = redis.call('ZRANGE', keys.due, 0, 0, 'WITHSCORES')[2]
local reply = {
  'OK', 'attached', top, version, newer and devices or {}, newer and redis.call('HGETALL', keys.presence) or {},
  due and int(math.max(0, due - now)) or '', int(on) .. ' ' .. int(off), int(orphan_in_ms), int(dropped),
}
if not opening then return reply end

purge_mail(keys, device, now)
local page, ended = {}, '1'
if not reason and not is_at_end then page, ended = read_page(keys, position, device, PAGE_BYTES) end
local messages, transfers = count_mail(keys.inbox, device), count_pending_offers(keys.offers, device)
reply[#reply + 1] = { reason or '', redis.call('GETRANGE', keys.clipboard, 0, 31), messages, transfers, page, ended }
return reply
