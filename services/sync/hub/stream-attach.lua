-- Attaches an open stream, or attaches it again: writes its route AND compares its position, in one step on the
-- account's slot, so that an append either sees the route or is seen here. Used for the first connect, the sweep and
-- every repair.
-- uses: clock routes hub/room log hub/position hub/presence messages/mail
-- KEYS[1] routes
-- KEYS[2] presence
-- KEYS[3] devices
-- KEYS[4] log
-- KEYS[5] mail
-- KEYS[6] inbox
-- KEYS[7] clipboard
-- KEYS[8] due
-- ARGV[1] stream id
-- ARGV[2] channel of the replica
-- ARGV[3] device id or ~name
-- ARGV[4] generation of this attach; an older one than written is ignored
-- ARGV[5] 32 random bits for a marker
-- ARGV[6] position, or ''
-- ARGV[7] '1' when the stream opens: limits are checked, the connect is announced, the first page is read
-- ARGV[8] presence version that the stream has; a newer one is returned
-- ARGV[9] grace in ms
-- ARGV[10] bytes of a page
-- ARGV[11] streams per device
-- ARGV[12] streams per account
-- ARGV[13] channels of dead replicas, joined by line ends
-- ARGV[14] seconds in the mailbox
-- ARGV[15] streams of the account that the replica holds, joined by line ends
-- ARGV[16] channels to which nobody listens, joined by line ends; '' when that was not asked
-- ARGV[17] ms that rows may be older than usual
-- ARGV[18] channels that the replica had before, joined by line ends
-- RETURNS OK, outcome (attached | gone: it was closed | old: a later attach came first | busy), top, presence version,
--         devices, presence, ms until the next thing is due or '', online + offline transitions, ms until a row that
--         the replica does not hold can be told from that of a new stream (0: there is none), such rows dropped,
--         [opening: { lost reason or '', clipboard times, messages, transfers, page, page end }]
--         or OK, full, channels of the account's other streams: a limit is reached, and it was not asked whether some
--         of them are those of a replica that has just died
local NEW_MS = 10000
local keys = { routes = KEYS[1], presence = KEYS[2], devices = KEYS[3], log = KEYS[4], mail = KEYS[5], inbox = KEYS[6] }
local stream, channel, device, generation = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local opening, now, dead, held, ghostly, own = ARGV[7] == '1', now_ms(), {}, {}, {}, { [channel] = true }
for name in string.gmatch(ARGV[13], '[^\n]+') do dead[name] = true end
for name in string.gmatch(ARGV[16], '[^\n]+') do ghostly[name] = true end
for id in string.gmatch(ARGV[15], '[^\n]+') do held[id] = true end
for name in string.gmatch(ARGV[18], '[^\n]+') do own[name] = true end

local devices, rows, mine = redis.call('HGETALL', keys.devices), read_routes(keys.routes, now, tonumber(ARGV[17])), nil
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
if mine and mine.closed > 0 then return answer({ 'OK', 'gone' }) end
if mine and mine.generation > generation then return answer({ 'OK', 'old' }) end
if opening then
  if string.sub(device, 1, 1) == '~' then
    for i = 2, #devices, 2 do
      if string.match(devices[i], '^[^\n]*') == string.sub(device, 2) then return answer({ 'name_taken' }) end
    end
  end
  local others = open_elsewhere(rows, stream, dead, ghostly, held)
  local room = room_for(others, device, tonumber(ARGV[11]), tonumber(ARGV[12]))
  if room ~= 'free' and ARGV[16] == '' then return answer({ 'OK', 'full', channels_of(others, channel) }) end
  if room == 'none' then return answer({ 'OK', 'busy' }) end
  supersede(keys.routes, others, device, tonumber(ARGV[11]), now)
end

if not mine then
  mine = { id = stream, opened = now }
  rows[#rows + 1] = mine
end
mine.channel, mine.device, mine.generation, mine.seen, mine.closed, mine.open = channel, device, generation, now, 0, true
write_route(keys.routes, mine)

-- Every position is a real entry: an empty log gets a marker.
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', 1)[1]
local reason = opening and lost_reason(keys.log, ARGV[6], now) or nil
local top = last and last[1] or append(keys.log, now, ARGV[5], '', '', '')
redis.call('EXPIRE', keys.routes, ROUTES_SECONDS)
redis.call('EXPIRE', keys.log, LIMITS.logSeconds)

local row_exists = string.sub(device, 1, 1) == '~' or redis.call('HEXISTS', keys.devices, device) == 1
local version, _, on, off = reconcile(keys, rows, now, tonumber(ARGV[9]), dead, opening and row_exists)
local newer = version > tonumber(ARGV[8])
local due = redis.call('ZRANGE', KEYS[8], 0, 0, 'WITHSCORES')[2]
local reply = {
  'OK', 'attached', top, int(version), newer and devices or {}, newer and redis.call('HGETALL', keys.presence) or {},
  due and int(math.max(0, due - now)) or '', int(on) .. ' ' .. int(off), int(stray), int(dropped),
}
if opening then
  purge_mail(keys, device, now, tonumber(ARGV[14]))
  local page, ended = {}, '1'
  if not reason then page, ended = read_page(keys, ARGV[6], device, tonumber(ARGV[10])) end
  local messages = redis.call('ZLEXCOUNT', keys.inbox, '[' .. device .. ':', '(' .. device .. ';')
  local transfers = redis.call('ZLEXCOUNT', keys.inbox, '[' .. device .. '+', '(' .. device .. ',')
  reply[#reply + 1] = { reason or '', redis.call('GETRANGE', KEYS[7], 0, 31), messages, transfers, page, ended }
end
return answer(reply)
