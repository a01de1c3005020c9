-- Which routes of an account are open, and what those that have ended say of their devices. (After `routes`.)

-- So many closed rows are kept: every script reads all rows, and a client that opens streams without end must not make
-- that expensive.
local CLOSED_KEPT = 128

-- Drops the rows that are over. `dead`: channels whose routes count as gone.
-- RETURNS sets by device: has an open stream; last seen by its ended streams; when the last of them closed.
local function sort_routes(key, rows, now, dead)
  local live, seen, closed, kept = {}, {}, {}, {}
  for _, row in ipairs(rows) do
    if row.open and not dead[row.channel] then
      live[row.device] = true
    else
      -- A time in the future is from before the clock was set back: the grace counts as over.
      if row.closed > 0 and row.closed <= now then closed[row.device] = math.max(closed[row.device] or 0, row.closed) end
      seen[row.device] = math.max(seen[row.device] or 0, row.closed, row.seen)
      if row.closed == 0 or now - row.closed > GONE_MS then redis.call('HDEL', key, row.id) else kept[#kept + 1] = row end
      row.open = false
    end
  end
  if #kept > CLOSED_KEPT then
    table.sort(kept, function(a, b) return a.closed > b.closed or (a.closed == b.closed and a.id < b.id) end)
    -- The latest of each device stays: its grace is counted from it.
    for i = CLOSED_KEPT + 1, #kept do
      if closed[kept[i].device] ~= kept[i].closed then redis.call('HDEL', key, kept[i].id) end
    end
  end
  return live, seen, closed
end
