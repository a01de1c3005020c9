-- Routes: which replica holds which open stream of the account.
-- Row: stream id -> channel \n device \n generation \n seen_ms \n opened_ms \n closed_ms (0 while open).
-- `device` is a device id, or `~<name>` for a stream without a device. A closed row of generation 0 is one of whose stream no
-- attach can come any more.
-- A row not renewed for STALE_MS is dead.
local STALE_MS = 150000

-- Most rows are closed where devices come and go: this alone is looked at to pass one over.
local function is_closed(text)
  return string.sub(text, -2) ~= '\n0'
end

-- The open routes as a flat list: channel, device, channel, device, ...
-- `late_ms`: for so long nobody could renew the rows, or it seems so by a clock that was set.
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

-- One open route for each channel, which is enough to announce: a row whose channel is known is not read. No channel
-- begins with another one.
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

-- The labels of what was heard, in lines, for the caller's counters; and what nobody has heard yet, for the caller to
-- announce: channel, label, payload, ... (In a cluster that is everything: a script may not publish to a channel of another
-- slot.) RECALLED: the operation was done before, and its announcement may be what got lost.
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

-- The answer of a script that announces, as its caller gets it, who takes the last element off (announcing.ts): a text of
-- what was heard, and where there is more to say a list of that text, whether it was recalled, and a list of what nobody has heard.
-- (A table in an answer costs the store more than a text: it looks for seven names in each.)
local function with_announcements(reply)
  local is_all = #UNNOTIFIED == 0 and not RECALLED
  reply[#reply + 1] = is_all and NOTIFIED or { NOTIFIED, RECALLED and '1' or '0', UNNOTIFIED }
  return reply
end
