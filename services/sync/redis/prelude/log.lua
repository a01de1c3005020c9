-- The log: one stream per account. Entry: p = id of the entry before it, e = event, t = addressees, d = data.
-- Addressees: `*` everybody, `!<device>` everybody but that one, else devices joined by tabs; empty: nobody (a marker).
-- Position = max(now, last + 1)-<32 random bits of the caller>: a promoted primary that lost its tail cannot issue the
-- id of a lost event again for another one.
local LOG_EVENTS = 256
local LOG_SECONDS = 86400

local function append(key, now, random, event, to, data)
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local prev, ms = '', now
  if last then
    prev = last[1]
    ms = math.max(now, tonumber(string.match(prev, '^%d+')) + 1)
  end
  local id = int(ms) .. '-' .. random
  redis.call('XADD', key, 'MAXLEN', LOG_EVENTS, id, 'p', prev, 'e', event, 't', to, 'd', data)
  redis.call('EXPIRE', key, LOG_SECONDS)
  return id, prev
end

-- What goes over the bus: one header line each, the data last. None of the header fields can hold a line end.
local function event_payload(account, id, prev, now, event, to, data)
  return table.concat({ 'e', account, id, prev, event, to, int(now), data }, '\n')
end

-- Appends and rings in one step: either the attach of a stream sees the entry, or this sees the stream's route.
local function append_and_ring(keys, rows, now, random, event, to, data)
  local id, prev = append(keys.log, now, random, event, to, data)
  ring_all(rows, event, event_payload(account_of(keys.log), id, prev, now, event, to, data))
  return id, prev
end
