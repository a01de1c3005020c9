-- Routes: which replica holds which open stream of the account.
-- Row: stream id -> channel \n device \n generation \n seen_ms \n opened_ms \n closed_ms (0 while open).
-- `device` is a device id, or `~<name>` for a stream without a device.
-- A row not renewed for STALE_MS is dead. A closed row stays for GONE_MS, so that an attach that comes late cannot undo it.
local STALE_MS = 150000
local GONE_MS = 60000
-- Rows that nobody could end, because everything stood still for a weekend, still say who was there and until when.
local ROUTES_SECONDS = 7 * 86400

-- `late_ms`: for so long nobody could renew the row, or it seems so by a clock that was set.
local function parse_route(id, text, now, late_ms)
  local channel, device, generation, seen, opened, closed =
    string.match(text, '^([^\n]*)\n([^\n]*)\n(%d+)\n(%d+)\n(%d+)\n(%d+)$')
  seen, closed = tonumber(seen), tonumber(closed)
  return {
    id = id, channel = channel, device = device, generation = tonumber(generation), seen = seen,
    opened = tonumber(opened), closed = closed, open = closed == 0 and now - seen <= STALE_MS + (late_ms or 0),
  }
end

local function read_routes(key, now, late_ms)
  local flat, rows = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do rows[#rows + 1] = parse_route(flat[i], flat[i + 1], now, late_ms) end
  return rows
end

local function write_route(key, row)
  local fields = { row.channel, row.device, int(row.generation), int(row.seen), int(row.opened), int(row.closed) }
  redis.call('HSET', key, row.id, table.concat(fields, '\n'))
end

-- What this script announced, for the caller's counters: label, receivers, ... ; and what nobody has heard yet, for
-- the caller to announce: channel, label, payload, ... (In a cluster that is everything: a script may not publish to a
-- channel of another slot.) RECALLED: the operation was done before, and its announcement may be what got lost.
local NOTIFIED, UNNOTIFIED, RECALLED = {}, {}, false

local function notify(channel, label, payload)
  local receivers = 0
  if PUBLISH_IN_SCRIPT then
    receivers = redis.call('PUBLISH', channel, payload)
    NOTIFIED[#NOTIFIED + 1] = label
    NOTIFIED[#NOTIFIED + 1] = tostring(receivers)
  end
  if receivers == 0 then
    UNNOTIFIED[#UNNOTIFIED + 1] = channel
    UNNOTIFIED[#UNNOTIFIED + 1] = label
    UNNOTIFIED[#UNNOTIFIED + 1] = payload
  end
end

-- Notifies every replica that holds an open stream of the account, each once. `but`: the row of a stream that knows.
local function notify_all(rows, label, payload, but)
  local notified = {}
  for _, row in ipairs(rows) do
    if row.open and row ~= but and not notified[row.channel] then
      notified[row.channel] = true
      notify(row.channel, label, payload)
    end
  end
end

-- The open routes for the caller, who knows which replicas are alive: channel, device, channel, device, ...
local function open_routes(rows)
  local flat = {}
  for _, row in ipairs(rows) do
    if row.open then
      flat[#flat + 1] = row.channel
      flat[#flat + 1] = row.device
    end
  end
  return flat
end

-- The answer of a script that announces, as its caller gets it: the loader takes the last three elements off.
local function with_announcements(reply)
  reply[#reply + 1] = NOTIFIED
  reply[#reply + 1] = UNNOTIFIED
  reply[#reply + 1] = RECALLED and '1' or '0'
  return reply
end
