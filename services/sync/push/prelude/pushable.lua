-- Counts what is still pending for a device from one peer. (After `offers`.)

-- The most offers that are read: more than a device may offer in the hour for which an offer is worth a push.
local OFFERS_READ = 4000

-- RETURNS the JSON of a message, without its end, if this peer ('': a sender without a device) sent it; else nil.
local function message_of(keys, id, peer)
  local row = redis.call('HGET', keys.mail, id) or ''
  local sender, json_at = string.match(row, '^.-\n(.-)\n.-\n.-\n()')
  return sender == peer and string.sub(row, json_at) or nil
end

-- Counts this peer's messages among the newest `most` of the mailbox. A read costs the store up to 10 us. So if none of
-- them is from this peer, looks for one older message, and counts only that one. `latest` is the last message of the peer
-- that the job knows.
-- RETURNS the number, id of the newest, ms of the oldest, the newest as JSON without its end.
local function pending_messages(keys, device, peer, latest, most)
  local function members(from, count)
    return redis.call('ZREVRANGEBYLEX', keys.inbox, '(' .. device .. ';', '[' .. device .. ':', 'LIMIT', from, count)
  end
  local count, newest, oldest, text, near = 0, '', 0, '', members(0, most)
  for _, member in ipairs(near) do
    local at, id = string.match(member, '^.-:(%d+)[^:]*:(.*)$')
    local open = message_of(keys, id, peer)
    if open then
      if count == 0 then newest, text = id, open end
      count, oldest = count + 1, tonumber(at)
    end
  end
  if count > 0 or #near < most then return count, newest, oldest, text end
  local log_id = string.match(redis.call('HGET', keys.mail, latest) or '', '^[^\n]*')
  local place = ':' .. log_id .. ':' .. latest
  local is_held = redis.call('ZSCORE', keys.inbox, device .. place)
  for _, member in ipairs(is_held and { place } or members(most, -1)) do
    local at, id = string.match(member, ':(%d+)[^:]*:(.*)$')
    local open = message_of(keys, id, peer)
    if open then return 1, id, tonumber(at), open end
  end
  return 0, '', 0, ''
end

-- Counts the offers of this peer that the device has not accepted, however much the peer offered since, up to `most`.
-- RETURNS the number, id of the newest.
local function pending_offers_of(keys, device, peer, most)
  local waiting, left, count, newest = {}, 0, 0, ''
  for _, member in ipairs(pending_offers(keys.offers, device)) do
    waiting[string.match(member, '([^:]*)$')] = true
    left = left + 1
  end
  if left == 0 then return 0, '' end
  for _, member in ipairs(listed_transfers(keys.offers, peer, '', OFFERS_READ)) do
    if left == 0 or count == most then break end
    local id = string.match(member, ' all %d+%-(.*)$')
    if waiting[id] then
      if count == 0 then newest = id end
      count, left = count + 1, left - 1
    end
  end
  return count, newest
end
