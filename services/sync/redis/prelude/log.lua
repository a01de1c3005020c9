-- The log: one stream per account. Entry: p = id of the entry before it, e = event, t = addressees, d = data, s = bytes
-- of data since the log began, up to here.
-- Addressees: `*` everybody, `!<device>` everybody but that one, else devices joined by tabs; empty: nobody (a marker).
-- Position = max(now, last + 1)-<32 random bits of the caller>, so that a promoted primary that lost the end of the log
-- cannot give the id of a lost event to another one.
-- After an entry with no more data than this the bytes of the log are not checked: 256 such entries are 256 KB.
local SHORT_BYTES = 1024
-- How long the key lives after its last entry, or up to a minute less, because its lifetime is renewed once a minute.
local LOG_SECONDS = LIMITS.logSeconds + 60

-- Drops the oldest entries until the log is short enough again. An entry of an earlier version does not record the
-- bytes of the log; only the limit on the number of entries drops it.
local function trim_bytes(key, sum)
  while true do
    local oldest = redis.call('XRANGE', key, '-', '+', 'COUNT', 2)
    local upto = oldest[2] and oldest[1][2][10]
    if not upto or sum - tonumber(upto) + #oldest[1][2][8] <= LIMITS.logBytes then return end
    redis.call('XTRIM', key, 'MINID', oldest[2][1])
  end
end

-- Appends an entry. Drops only whole nodes of the stream; entries before the last LIMITS.logEvents are dropped when a
-- position is checked (`lost_reason`).
local function append(key, now, random, event, to, data)
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', '1')[1]
  local prev, prev_ms, ms, sum = '', 0, now, #data
  if last then
    prev = last[1]
    prev_ms = tonumber(string.match(prev, '^%d+'))
    ms = math.max(now, prev_ms + 1)
    sum = sum + tonumber(last[2][10] or '0')
  end
  local id = int(ms) .. '-' .. random
  redis.call('XADD', key, 'MAXLEN', '~', LIMITS.logEvents, id, 'p', prev, 'e', event, 't', to, 'd', data, 's', int(sum))
  if #data > SHORT_BYTES then trim_bytes(key, sum) end
  if math.floor(ms / 60000) > math.floor(prev_ms / 60000) then redis.call('EXPIRE', key, LOG_SECONDS) end
  return id, prev
end

-- Returns the payload for the bus: one header line for each field, the data last. No header field can hold a line end.
-- `ending`: the end of the data, if the data is long and was made without it.
local function event_payload(account, id, prev, now, event, to, data, ending)
  return BUS.event .. '\n' .. account .. '\n' .. id .. '\n' .. prev .. '\n' .. event .. '\n' .. to .. '\n' .. int(now)
    .. '\n' .. data .. (ending or '')
end

-- Appends and notifies in one step: either the attach of a stream sees the entry, or this sees the stream's route.
local function append_and_notify(keys, open, now, random, event, to, data)
  local id, prev = append(keys.log, now, random, event, to, data)
  notify_all(open, event, event_payload(account_of(keys.log), id, prev, now, event, to, data))
  return id, prev
end
