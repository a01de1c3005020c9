-- Routes in full, for scripts that attach streams or find out who is online. (Comes after `routes`.)
-- A closed row stays for GONE_MS, so that a late attach cannot undo it. A superseded stream may learn of that only from
-- its next attach, which comes after a sweep and a quarter: 75 s at most.
local GONE_MS = 90000
-- After an outage of a whole weekend, rows that nobody could close still say who was there and until when.
local ROUTES_SECONDS = 7 * 86400

-- Returns the rows that are not closed, and the texts of closed rows by id. Only `seen` of a row is a number; the other
-- fields are written again as they were read.
local function read_routes(key, now, late_ms)
  local flat, rows, closed, oldest = redis.call('HGETALL', key), {}, {}, now - STALE_MS - late_ms
  for i = 1, #flat, 2 do
    local id, text = flat[i], flat[i + 1]
    if is_closed(text) then
      closed[id] = text
    else
      local channel, device, attach_number, seen, opened = string.match(text, '^([^\n]*)\n([^\n]*)\n(%d+)\n(%d+)\n(%d+)\n')
      seen = tonumber(seen)
      rows[#rows + 1] = {
        id = id, channel = channel, device = device, attach_number = attach_number, seen = seen, opened = opened,
        open = seen >= oldest,
      }
    end
  end
  return rows, closed
end

-- Writes a row. `row`: id, channel, device, attach_number, opened. `seen`, `closed`: ms, as strings.
-- RETURNS the written text.
local function write_route(key, row, seen, closed)
  local text = table.concat({ row.channel, row.device, row.attach_number, seen, row.opened, closed }, '\n')
  redis.call('HSET', key, row.id, text)
  return text
end
