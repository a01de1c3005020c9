-- Limits how many streams an account and a device may have. For a device at its limit, a new stream takes the place of
-- its oldest, so that the account gets no more streams.

-- Returns the open routes except that of `stream` and those of dead replicas. A silent channel belongs to a replica
-- that has just died. If the caller holds the stream, the channel is a former one of its own, and the stream is alive.
local function other_streams(rows, stream, liveness)
  local others = {}
  for _, row in ipairs(rows) do
    local is_silent = liveness.silent and liveness.silent[row.channel] and not liveness.held[row.id]
    local is_dead = liveness.dead[row.channel] or is_silent
    if row.open and row.id ~= stream and not is_dead then others[#others + 1] = row end
  end
  return others
end

-- Returns the rows that are not of this device or name, as a list like that of `open_routes`.
local function routes_beside(rows, device)
  local open = {}
  for _, row in ipairs(rows) do
    if row.device ~= device then open[#open + 1], open[#open + 2] = row.channel, row.device end
  end
  return open
end

local function of_device(rows, device)
  local found = {}
  for _, row in ipairs(rows) do
    if row.device == device then found[#found + 1] = row end
  end
  return found
end

-- RETURNS 'free' | 'replaces' | 'none'
local function slot_for(rows, device)
  if #of_device(rows, device) >= LIMITS.streamsPerDevice then return 'replaces' end
  return #rows >= LIMITS.streamsPerAccount and 'none' or 'free'
end

-- Returns the channels of the rows, without the caller's own.
local function channels_of(rows, own)
  local channels = {}
  for _, row in ipairs(rows) do
    if row.channel ~= own then channels[#channels + 1] = row.channel end
  end
  return channels
end

-- Closes the oldest streams of the device, so that one fewer than the limit is left. Adds the texts of their rows to
-- `closed`.
local function supersede(key, rows, closed, device, now)
  local siblings = of_device(rows, device)
  table.sort(siblings, function(a, b) return a.opened < b.opened or (a.opened == b.opened and a.id < b.id) end)
  for i = 1, #siblings - LIMITS.streamsPerDevice + 1 do
    siblings[i].open = false
    closed[siblings[i].id] = write_route(key, siblings[i], int(siblings[i].seen), int(now))
    notify(siblings[i].channel, 'superseded', BUS.superseded .. '\n' .. account_of(key) .. '\n' .. siblings[i].id)
  end
end
