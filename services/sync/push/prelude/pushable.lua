-- What is still pending for a device from one peer. (After `offers`.)

-- More than a device may offer in the hour for which an offer is worth a push.
local OFFERS_READ = 4000

-- The messages of this peer ('': a sender without a device) in the whole mailbox; at most `most` are counted.
-- RETURNS how many, id of the newest, ms of the oldest, the newest as JSON without its end.
local function pending_messages(keys, device, peer, most)
  local count, newest, oldest, text = 0, '', 0, ''
  local members = redis.call('ZREVRANGEBYLEX', keys.inbox, '(' .. device .. ';', '[' .. device .. ':')
  for _, member in ipairs(members) do
    if count == most then break end
    local at, id = string.match(member, '^.-:(%d+)[^:]*:(.*)$')
    local sender, open = string.match(redis.call('HGET', keys.mail, id) or '', '^.-\n(.-)\n.-\n.-\n(.*)$')
    if sender == peer then
      if count == 0 then newest, text = id, open end
      count, oldest = count + 1, tonumber(at)
    end
  end
  return count, newest, oldest, text
end

-- The offers of this peer that the device has not accepted, however much the peer offered since; at most `most` are counted.
-- RETURNS how many, id of the newest.
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
