-- Routes: which replica holds which open stream of the account.
-- Row: stream id -> channel \n device \n attach number \n seen_ms \n opened_ms \n closed_ms (0 while open).
-- `device` is a device id, or `~<name>` for a stream without a device. For a closed row with attach number 0 no attach
-- can come any more.
-- A row not renewed for STALE_MS is dead.
local STALE_MS = 150000

-- If devices come and go, most rows are closed. This check alone is enough to skip one.
local function is_closed(text)
  return string.sub(text, -2) ~= '\n0'
end

-- Returns the open routes as a flat list: channel, device, channel, device, ...
-- `late_ms`: how long nobody could renew the rows, or so it seems because the clock was set.
local function open_routes(key, now, late_ms)
  local open, oldest = {}, now - STALE_MS - (late_ms or 0)
  for _, text in ipairs(redis.call('HVALS', key)) do
    if not is_closed(text) then
      local channel, device, seen = string.match(text, '^([^\n]*)\n([^\n]*)\n%d+\n(%d+)\n')
      if tonumber(seen) >= oldest then open[#open + 1], open[#open + 2] = channel, device end
    end
  end
  return open
end

-- Returns one open route for each channel, which is enough to announce. A row whose channel is known is not read. No
-- channel is a prefix of another.
local function routes_to_notify(key, now)
  local open, oldest = {}, now - STALE_MS
  for _, text in ipairs(redis.call('HVALS', key)) do
    local is_known = is_closed(text)
    for i = 1, #open, 2 do is_known = is_known or string.find(text, open[i], 1, true) == 1 end
    if not is_known then
      local channel, device, seen = string.match(text, '^([^\n]*)\n([^\n]*)\n%d+\n(%d+)\n')
      if tonumber(seen) >= oldest then open[#open + 1], open[#open + 2] = channel, device end
    end
  end
  return open
end

-- NOTIFIED: labels of announcements that were heard, in lines, for the caller's counters.
-- UNNOTIFIED: those that nobody has heard yet, for the caller to announce: channel, label, payload, ... (In a cluster
-- that is everything, because a script may not publish to a channel of another slot.)
-- RECALLED: the operation was done before, and its announcement may have been lost.
local NOTIFIED, UNNOTIFIED, RECALLED = '', {}, false

local function notify(channel, label, payload)
  if PUBLISH_IN_SCRIPT and redis.call('PUBLISH', channel, payload) > 0 then
    NOTIFIED = NOTIFIED == '' and label or NOTIFIED .. '\n' .. label
  else
    UNNOTIFIED[#UNNOTIFIED + 1] = channel
    UNNOTIFIED[#UNNOTIFIED + 1] = label
    UNNOTIFIED[#UNNOTIFIED + 1] = payload
  end
end

-- Notifies every replica that holds one of these open routes, each once.
local function notify_all(open, label, payload)
  local notified = {}
  for i = 1, #open, 2 do
    local channel = open[i]
    if not notified[channel] then
      notified[channel] = true
      notify(channel, label, payload)
    end
  end
end

-- Returns the answer of a script that announces. The caller takes the last element off (announcing.ts): NOTIFIED as a
-- string, or, when there is more to report, a list of NOTIFIED, whether it was recalled, and UNNOTIFIED.
-- (A table in an answer costs the store more than a string, because it looks for seven names in each.)
local function with_announcements(reply)
  local is_all = #UNNOTIFIED == 0 and not RECALLED
  reply[#reply + 1] = is_all and NOTIFIED or { NOTIFIED, RECALLED and '1' or '0', UNNOTIFIED }
  return reply
end
