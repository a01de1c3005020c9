-- Attaches a stream that opens: checks limits, writes its route AND reads what it missed, in one step on the account's
-- slot, so that an append either finds the route or is found here.
-- Keys and arguments: streamOpen in scripts.ts.
-- uses: clock routes devices/names route-rows replicas/liveness streams/own-routes streams/stream-quota log space streams/position presence/version presence/ended-routes presence/presence messages/mail transfers/offers
-- RETURNS as stream-attach.lua
--         | OK, busy: the account has as many streams as it may
--         | OK, full, channels of the account's other streams: the account or the device is at its limit, and the
--         |           caller has not asked yet which of these channels are silent
--         | name_taken
local now = now_ms()
local has_device = string.sub(device, 1, 1) ~= '~'
local devices = redis.call('HGETALL', keys.devices)
local rows, closed = read_routes(keys.routes, now, liveness.late_ms)
local orphan_in_ms, dropped = close_orphans(rows, channel, liveness, now)
local before = route_of(rows, stream)
local late = too_late(before, closed[stream], attach_number)
if late then return { 'OK', late } end
local others = other_streams(rows, stream, liveness)
local taken = has_device and {} or looks_taken(devices, '', routes_beside(others, device))
if taken[looks_of(string.sub(device, 2))] then return { 'name_taken' } end
local slot = slot_for(others, device)
if slot ~= 'free' and not liveness.silent then return { 'OK', 'full', channels_of(others, channel) } end
if slot == 'none' then return { 'OK', 'busy' } end
if slot == 'replaces' then supersede(keys.routes, others, closed, device, now) end
local own = { id = stream, channel = channel, device = device, attach_number = attach_number }
local mine = write_own(keys.routes, rows, before, own, now)

-- Every position is that of an entry, so an empty log gets an entry that is addressed to nobody.
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', '1')[1]
local is_at_end = last and last[1] == position
local reason = not is_at_end and lost_reason(keys.log, position, now) or nil
local top = last and last[1] or append(keys.log, now, random, '', '', '')
redis.call('EXPIRE', keys.log, LOG_SECONDS)

-- A connect is announced to the other streams even if it changes nothing, because one of them may wait for this device.
local arrived = #others > 0 and device or nil
local version, _, on, off, states = reconcile(keys, rows, closed, devices, now, GRACE_MS, liveness.dead, arrived, mine)
-- Most accounts have nothing pending, and one command finds that out.
local messages, transfers, clipboard, has_invites = 0, 0, '', '0'
if redis.call('EXISTS', keys.inbox, keys.offers, keys.clipboard, keys.invites) > 0 then
  messages = count_mail(keys.inbox, device)
  if messages > 0 and purge_mail(keys, device, now) > 0 then messages = count_mail(keys.inbox, device) end
  transfers = count_pending_offers(keys.offers, device)
  clipboard = redis.call('GETRANGE', keys.clipboard, 0, 31)
  has_invites = tostring(redis.call('EXISTS', keys.invites))
end
local page, ended = '', '1'
if not reason and not is_at_end then page, ended = read_page(keys, position, device, PAGE_BYTES) end
return {
  'OK', 'attached', top, version, devices, states, transitions_of(on, off), orphan_in_ms, dropped,
  reason or '', clipboard, messages, transfers, has_invites, page, ended,
}
