-- Reading the log from a position.

local function field(entry, name)
  local fields = entry[2]
  for i = 1, #fields, 2 do
    if fields[i] == name then return fields[i + 1] end
  end
end

-- Returns nil when the position is valid, else why it is not. An existing entry is a valid position, and so is the `p`
-- of the oldest entry, because nothing between the two was missed.
local function lost_reason(log, position, now)
  if position == '' then return 'new' end
  where_there_is_space(redis.call, 'XTRIM', log, 'MAXLEN', LIMITS.logEvents)
  if #redis.call('XRANGE', log, position, position) == 1 then return nil end
  local at = tonumber(string.match(position, '^%d+'))
  local lost_or_expired = now - at <= LIMITS.logSeconds * 1000 and 'store_lost' or 'expired'
  local oldest = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
  if not oldest then return lost_or_expired end
  local born = field(oldest, 'p')
  if born == position then return nil end
  if at >= tonumber(string.match(oldest[1], '^%d+')) then return 'gap' end
  -- A log that still has its first entry began after the position: the log before it expired, or the store lost it.
  return born == '' and lost_or_expired or 'expired'
end

local function addressed(to, device)
  if to == '*' then return true end
  if string.sub(to, 1, 1) == '!' then return to ~= '!' .. device end
  return to ~= '' and string.find('\t' .. to .. '\t', '\t' .. device .. '\t', 1, true) ~= nil
end

-- Returns the event of a message, whose text is stored once, in the mailbox; nil when this device has acknowledged it.
local function joined_message(keys, id, message_id, device)
  if not redis.call('ZSCORE', keys.inbox, device .. ':' .. id .. ':' .. message_id) then return nil end
  local stored = redis.call('HGET', keys.mail, message_id)
  return stored and string.sub(stored, string.match(stored, '^.-\n.-\n.-\n.-\n()')) .. ',"redelivered":false}'
end

-- Reads id, event, data of each entry after `position`; event is '' for an entry that is not for this device. Ends at
-- `max_bytes`.
-- RETURNS the flat list and whether the end of the log was reached ('1' or '0').
local function read_page(keys, position, device, max_bytes)
  local flat, bytes, from, now = {}, 0, '(' .. position, now_ms()
  while true do
    local chunk = redis.call('XRANGE', keys.log, from, '+', 'COUNT', 32)
    for _, entry in ipairs(chunk) do
      local id, event, data = entry[1], field(entry, 'e'), field(entry, 'd')
      -- A signal is not replayed when its peer has given up waiting.
      local stale = event == 'signal' and now - tonumber(string.match(id, '^%d+')) > 1000 * LIMITS.signalSeconds
      if stale or not addressed(field(entry, 't'), device) then
        event, data = '', ''
      elseif event == 'message' and string.sub(data, 1, 1) ~= '{' then
        data = joined_message(keys, id, data, device)
        if not data then event, data = '', '' end
      end
      flat[#flat + 1], flat[#flat + 2], flat[#flat + 3] = id, event, data
      bytes, from = bytes + #data, '(' .. id
      if bytes >= max_bytes then return flat, '0' end
    end
    if #chunk < 32 then return flat, '1' end
  end
end
