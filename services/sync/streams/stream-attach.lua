-- Attaches an open stream, or attaches it again: writes its route AND compares its position, in one step on the
-- account's slot, so that an append either sees the route or is seen here. Used for the first connect, the sweep and
-- every repair.
-- Keys and arguments: streamAttach in scripts.ts.
-- uses: clock routes streams/stream-quota log streams/position presence/presence messages/mail transfers/offers
-- RETURNS OK, outcome (attached | gone: it was closed | old: a later attach came first | busy), top, presence version,
--         devices, presence, ms until the next thing is due or '', online + offline transitions, ms until a row that
--         the replica does not hold can be told from that of a new stream (0: there is none), such rows dropped,
--         [opening: { lost reason or '', clipboard times, messages, transfers, page, page end }]
--         or OK, full, channels of the account's other streams: a limit is reached, and it was not asked whether some
--         of them are those of a replica that has just died
local NEW_MS = 10000
local now, ghostly = now_ms(), set_of(ghosts)
own[channel] = true

local devices, rows, mine = redis.call('HGETALL', keys.devices), read_routes(keys.routes, now, late_ms), nil
local stray, dropped = 0, 0
for _, row in ipairs(rows) do
  if row.id == stream then mine = row end
  -- Its end was in a tail that was lost, or an attach of it was carried out after its end had been lost. A row of a
  -- moment ago may be that of a stream that came after this was sent.
  if row.open and own[row.channel] and not held[row.id] then
    row.open = math.abs(now - row.seen) <= NEW_MS
    if row.open then stray = math.max(stray, NEW_MS - math.abs(now - row.seen) + 1) else dropped = dropped + 1 end
  end
end
if mine and mine.closed > 0 then return { 'OK', 'gone' } end
if mine and mine.generation > generation then return { 'OK', 'old' } end
if opening then
  if string.sub(device, 1, 1) == '~' then
    for i = 2, #devices, 2 do
      if string.match(devices[i], '^[^\n]*') == string.sub(device, 2) then return { 'name_taken' } end
    end
  end
  local others = open_elsewhere(rows, stream, dead, ghostly, held)
  local slot = slot_for(others, device, LIMITS.streamsPerDevice, LIMITS.streamsPerAccount)
  if slot ~= 'free' and ghosts == '' then return { 'OK', 'full', channels_of(others, channel) } end
  if slot == 'none' then return { 'OK', 'busy' } end
  supersede(keys.routes, others, device, LIMITS.streamsPerDevice, now)
end

if not mine then
  mine = { id = stream, opened = now }
  rows[#rows + 1] = mine
end
mine.channel, mine.device, mine.generation, mine.seen, mine.closed, mine.open = channel, device, generation, now, 0, true
write_route(keys.routes, mine)

-- Every position is a real entry: an empty log gets a marker.
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', 1)[1]
local reason = opening and lost_reason(keys.log, position, now) or nil
local top = last and last[1] or append(keys.log, now, random, '', '', '')
redis.call('EXPIRE', keys.routes, ROUTES_SECONDS)
redis.call('EXPIRE', keys.log, LIMITS.logSeconds)

local row_exists = string.sub(device, 1, 1) == '~' or redis.call('HEXISTS', keys.devices, device) == 1
local version, _, on, off = reconcile(keys, rows, now, GRACE_MS, dead, opening and row_exists)
local newer = version > known_version
local due = redis.call('ZRANGE', keys.due, 0, 0, 'WITHSCORES')[2]
local reply = {
  'OK', 'attached', top, int(version), newer and devices or {}, newer and redis.call('HGETALL', keys.presence) or {},
  due and int(math.max(0, due - now)) or '', int(on) .. ' ' .. int(off), int(stray), int(dropped),
}
if opening then
  purge_mail(keys, device, now, LIMITS.mailboxSeconds)
  local page, ended = {}, '1'
  if not reason then page, ended = read_page(keys, position, device, PAGE_BYTES) end
  local messages, transfers = count_mail(keys.inbox, device), count_pending_offers(keys.offers, device)
  reply[#reply + 1] = { reason or '', redis.call('GETRANGE', keys.clipboard, 0, 31), messages, transfers, page, ended }
end
return reply
