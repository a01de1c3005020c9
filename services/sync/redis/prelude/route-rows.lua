-- Routes in full, for what attaches streams and says who is online. (After `routes`.)
-- A closed row stays for GONE_MS, so that an attach that comes late cannot undo it. A stream that another one has superseded
-- may learn it by its next attach alone, which comes after a sweep and a quarter: 75 s at most.
local GONE_MS = 90000
-- Rows that nobody could end, because everything stood still for a weekend, still say who was there and until when.
local ROUTES_SECONDS = 7 * 86400

-- The rows that are not closed, and the texts of those that are, by id. Of a row only `seen` is a number: the others are
-- written again as they were read.
local function read_routes(key, now, late_ms)
  local flat, rows, closed, oldest = redis.call('HGETALL', key), {}, {}, now - STALE_MS - late_ms
  for i = 1, #flat, 2 do
    local id, text = flat[i], flat[i + 1]
    if is_closed(text) then
      closed[id] = text
    else
      local channel, device, generation, seen, opened = string.match(text, '^([^\n]*)\n([^\n]*)\n(%d+)\n(%d+)\n(%d+)\n')
      seen = tonumber(seen)
      rows[#rows + 1] = {
        id = id, channel = channel, device = device, generation = generation, seen = seen, opened = opened,
        open = seen >= oldest,
      }
    end
  end
  return rows, closed
end

-- `row`: id, channel, device, generation, opened. `seen`, `closed`: ms, as texts.
-- RETURNS the text that was written.
local function write_route(key, row, seen, closed)
  local text = row.channel .. '\n' .. row.device .. '\n' .. row.generation .. '\n' .. seen .. '\n' .. row.opened .. '\n' .. closed
  redis.call('HSET', key, row.id, text)
  return text
end
