-- Which routes of an account are open, and when the devices of ended ones were last seen. (Comes after `route-rows`;
-- `rows` and `closed` are those of `read_routes`.)

-- Most closed rows that are kept. Every script reads all rows, and a client that opens streams without end must not
-- make that expensive.
local CLOSED_KEPT = 96

-- Reads the rows that are not open. Called only when a device has lost its last stream, because reading a row in full
-- takes four times as long as checking whether it is over.
-- RETURNS for each device: the last time its ended streams saw it, and the time when the last of them closed.
local function read_ends(rows, closed, now)
  local seen, ended = {}, {}
  for _, row in ipairs(rows) do
    if not row.open then seen[row.device] = math.max(seen[row.device] or 0, row.seen) end
  end
  for _, text in pairs(closed) do
    local device, seen_at, closed_at = string.match(text, '^[^\n]*\n([^\n]*)\n%d+\n(%d+)\n%d+\n(%d+)$')
    seen_at, closed_at = tonumber(seen_at), tonumber(closed_at)
    -- A time in the future was written before the clock was set back: the grace counts as over.
    if closed_at <= now then ended[device] = math.max(ended[device] or 0, closed_at) end
    seen[device] = math.max(seen[device] or 0, closed_at, seen_at)
  end
  return seen, ended
end

-- Returns the ids of the surplus closed stream routes. The latest route of each device with a row stays, because the
-- grace of the device is counted from it. Routes of names do not stay, because streams without a device may have any
-- number of names.
local function surplus_of(closed, now)
  local _, ended = read_ends({}, closed, now)
  local rows, ids = {}, {}
  for id, text in pairs(closed) do
    local device, closed_at = string.match(text, '^[^\n]*\n([^\n]*)\n.*\n(%d+)$')
    rows[#rows + 1] = { id = id, device = device, closed = tonumber(closed_at) }
  end
  table.sort(rows, function(a, b) return a.closed > b.closed or (a.closed == b.closed and a.id < b.id) end)
  for i = CLOSED_KEPT + 1, #rows do
    local device = rows[i].device
    if ended[device] ~= rows[i].closed or string.sub(device, 1, 1) == '~' then ids[#ids + 1] = rows[i].id end
  end
  return ids
end

-- Drops the rows that are over. `dead`: channels whose routes count as gone; their rows no longer count as open.
-- `arrived`: a device that opens a stream, or nil. The device is online, so of its closed streams only those are kept
-- for which a late attach may come (their attach number is not 0). So a device that comes back again and again has one
-- row.
-- RETURNS the set of devices that have an open stream.
local function sort_routes(key, rows, closed, now, dead, arrived)
  local live, over, kept = {}, {}, 0
  local none_late = arrived and '\n' .. arrived .. '\n0\n'
  for _, row in ipairs(rows) do
    row.open = row.open and not dead[row.channel]
    if row.open then
      live[row.device] = true
    elseif not closed[row.id] then
      over[#over + 1] = row.id
    end
  end
  for id, text in pairs(closed) do
    -- Milliseconds have 13 digits.
    local is_over = none_late and string.find(text, none_late, 1, true) or now - tonumber(string.sub(text, -13)) > GONE_MS
    if is_over then over[#over + 1] = id else kept = kept + 1 end
  end
  if kept > CLOSED_KEPT then
    for _, id in ipairs(surplus_of(closed, now)) do over[#over + 1] = id end
  end
  if #over > 0 then redis.call('HDEL', key, unpack(over)) end
  return live
end

-- Returns the open rows as a list like that of `open_routes`, without the row `but`.
local function open_among(rows, but)
  local open = {}
  for _, row in ipairs(rows) do
    if row.open and row ~= but then open[#open + 1], open[#open + 2] = row.channel, row.device end
  end
  return open
end
