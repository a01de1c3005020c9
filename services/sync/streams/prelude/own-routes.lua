-- Functions by which an attach finds the routes of its own stream and of its replica.

-- A route younger than this may belong to a stream that came after the attach was sent.
local NEW_MS = 10000

-- Returns the route of `stream`, nil when it has none.
local function route_of(rows, stream)
  for _, row in ipairs(rows) do
    if row.id == stream then return row end
  end
end

-- Closes routes to the caller that lead to no stream. The store lost the write that closed such a route, or ran a late
-- attach after that write was lost. These routes count as closed, and `reconcile` drops them.
-- RETURNS in how many ms a recent row can be distinguished from the row of a new stream (0: none is recent), number of
-- closed rows.
local function close_orphans(rows, channel, liveness, now)
  local wait, dropped = 0, 0
  for _, row in ipairs(rows) do
    local is_own = row.channel == channel or liveness.former[row.channel]
    if row.open and is_own and not liveness.held[row.id] then
      local age = math.abs(now - row.seen)
      if age <= NEW_MS then
        wait = math.max(wait, NEW_MS - age + 1)
      else
        row.open, dropped = false, dropped + 1
      end
    end
  end
  return wait, dropped
end

-- Returns why an attach of this number comes too late, nil when it does not. `gone`: its stream was closed. `old`:
-- a later attach came first. `row` and `closed`: the open and the closed route of the stream, nil when it has none.
local function too_late(row, closed, attach_number)
  return closed and 'gone' or row and tonumber(row.attach_number) > tonumber(attach_number) and 'old' or nil
end

-- Writes the route of a stream in place of `row`; adds a row for a stream that had none.
-- `own`: id, channel, device, attach_number. RETURNS the row.
local function write_own(key, rows, row, own, now)
  local seen = int(now)
  if not row then
    row = { opened = seen }
    rows[#rows + 1] = row
  end
  row.id, row.channel, row.device, row.attach_number = own.id, own.channel, own.device, own.attach_number
  row.seen, row.open = now, true
  write_route(key, row, seen, '0')
  redis.call('EXPIRE', key, ROUTES_SECONDS)
  return row
end
