-- The mailbox. Mail: message id -> log id \n sender device \n bytes \n holders \n JSON without its end (`redelivered`
-- is added on sending); `bytes` -> bytes of all; `purged` -> the minute of the last removal of everything expired.
-- The JSON is cut out by its position, with `()` in a pattern, because `(.*)` looks at each of its bytes.
-- Inbox: `<device>:<log id>:<message id>`, all with score 0, so that it sorts by device, then by age.
-- How long both keys live after the last message, or up to a minute less, because their lifetime is renewed once a
-- minute.
local MAIL_SECONDS = LIMITS.mailboxSeconds + 60

local function count_mail(key, device)
  return redis.call('ZLEXCOUNT', key, '[' .. device .. ':', '(' .. device .. ';')
end

-- Puts a message into mailboxes. `held` and `minute` as `held_mail` returns them.
local function put_mail(keys, message_id, log_id, sender, bytes, holders, open_json, held, minute)
  local text = log_id .. '\n' .. sender .. '\n' .. bytes .. '\n' .. #holders .. '\n' .. open_json
  redis.call('HSET', keys.mail, message_id, text, 'bytes', int(held + bytes))
  local members, place = {}, ':' .. log_id .. ':' .. message_id
  for _, device in ipairs(holders) do members[#members + 1], members[#members + 2] = '0', device .. place end
  redis.call('ZADD', keys.inbox, unpack(members))
  if minute then
    redis.call('HSET', keys.mail, 'purged', minute)
    redis.call('EXPIRE', keys.mail, MAIL_SECONDS)
  end
  -- An empty inbox does not exist as a key, and a new key has no time to live.
  if minute or held == 0 then redis.call('EXPIRE', keys.inbox, MAIL_SECONDS) end
end

-- Takes messages out of one mailbox, and deletes the text of a message with its last holder.
-- RETURNS for each id the device that sent it ('': without a device), or false when this device does not hold it.
local function drop_mail(keys, device, message_ids)
  if #message_ids == 0 then return {} end
  local senders, gone, freed = {}, {}, 0
  for i, stored in ipairs(redis.call('HMGET', keys.mail, unpack(message_ids))) do
    local id, dropped = message_ids[i], false
    if stored then
      local log_id, sender, bytes, holders, json_at = string.match(stored, '^([^\n]*)\n([^\n]*)\n(%d+)\n(%d+)\n()')
      -- An id that occurs twice is dropped once.
      if redis.call('ZREM', keys.inbox, device .. ':' .. log_id .. ':' .. id) == 1 then
        dropped = sender
        if holders == '1' then
          gone[#gone + 1], freed = id, freed + bytes
        else
          local text = table.concat({ log_id, sender, bytes, int(holders - 1), string.sub(stored, json_at) }, '\n')
          redis.call('HSET', keys.mail, id, text)
        end
      end
    end
    senders[i] = dropped
  end
  if #gone > 0 then
    redis.call('HDEL', keys.mail, unpack(gone))
    redis.call('HINCRBY', keys.mail, 'bytes', int(-freed))
  end
  return senders
end

-- Drops these members with their texts, including members whose text has expired.
local function drop_members(keys, device, members)
  if #members == 0 then return end
  local ids = {}
  for i, member in ipairs(members) do ids[i] = string.match(member, '([^:]*)$') end
  for i, sender in ipairs(drop_mail(keys, device, ids)) do
    if not sender then redis.call('ZREM', keys.inbox, members[i]) end
  end
end

-- Drops all messages that have been in this mailbox for too long (a mailbox is bounded), so that the next read or count
-- finds nothing expired. RETURNS the number of dropped messages.
local function purge_mail(keys, device, now)
  local before = '(' .. device .. ':' .. int(now - LIMITS.mailboxSeconds * 1000)
  local members = redis.call('ZRANGEBYLEX', keys.inbox, '[' .. device .. ':', before)
  drop_members(keys, device, members)
  return #members
end
