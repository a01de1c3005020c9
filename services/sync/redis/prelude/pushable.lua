-- What still waits for a device from one peer.

-- Of the newest `most` messages in the mailbox those of this peer ('': without a device).
-- RETURNS how many, the newest id, ms of the oldest, the newest as JSON without its end.
local function waiting_messages(keys, device, peer, most)
  local count, newest, oldest, text = 0, '', 0, ''
  local members = redis.call('ZREVRANGEBYLEX', keys.inbox, '(' .. device .. ';', '[' .. device .. ':', 'LIMIT', 0, most)
  for _, member in ipairs(members) do
    local at, id = string.match(member, '^.-:(%d+)[^:]*:(.*)$')
    local sender, open = string.match(redis.call('HGET', keys.mail, id) or '', '^.-\n(.-)\n.-\n.-\n(.*)$')
    if sender == peer then
      if count == 0 then newest, text = id, open end
      count, oldest = count + 1, tonumber(at)
    end
  end
  return count, newest, oldest, text
end

-- Offers that the device has not accepted, among the newest of this peer.
-- RETURNS how many, the newest id.
local function waiting_offers(keys, device, peer, most)
  local waiting, count, newest = {}, 0, ''
  for _, member in ipairs(redis.call('ZRANGEBYLEX', keys.inbox, '[' .. device .. '+', '(' .. device .. ',')) do
    waiting[string.match(member, '([^:]*)$')] = true
  end
  local sent = redis.call('ZREVRANGEBYLEX', keys.inbox, '(' .. peer .. '>', '[' .. peer .. '=', 'LIMIT', 0, 2 * most)
  for _, member in ipairs(sent) do
    local id = string.match(member, '^.-=%d+%-(.*)$')
    if waiting[id] then
      if count == 0 then newest = id end
      count = math.min(count + 1, most)
    end
  end
  return count, newest
end
