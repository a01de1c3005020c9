-- The mailbox. Mail: message id -> log id \n sender device \n bytes \n holders \n JSON without its end (`redelivered` is
-- added on sending); `bytes` -> bytes of all. Inbox: `<device>:<log id>:<message id>`, all of score 0, so that it sorts
-- by device, then by age.

local function count_mail(key, device)
  return redis.call('ZLEXCOUNT', key, '[' .. device .. ':', '(' .. device .. ';')
end

-- `held`: the bytes before.
local function put_mail(keys, message_id, log_id, sender, bytes, holders, open_json, held)
  local text = table.concat({ log_id, sender, bytes, #holders, open_json }, '\n')
  redis.call('HSET', keys.mail, message_id, text, 'bytes', int(held + bytes))
  for _, device in ipairs(holders) do redis.call('ZADD', keys.inbox, 0, device .. ':' .. log_id .. ':' .. message_id) end
end

-- Takes a message out of one mailbox; with the last holder the text goes.
-- RETURNS the device that sent it ('': without a device), or nil when this device does not hold it.
local function drop_mail(keys, device, message_id)
  local stored = redis.call('HGET', keys.mail, message_id)
  if not stored then return nil end
  local log_id, sender, bytes, holders, open_json = string.match(stored, '^(.-)\n(.-)\n(.-)\n(.-)\n(.*)$')
  if redis.call('ZREM', keys.inbox, device .. ':' .. log_id .. ':' .. message_id) == 0 then return nil end
  if tonumber(holders) > 1 then
    local left = int(tonumber(holders) - 1)
    redis.call('HSET', keys.mail, message_id, table.concat({ log_id, sender, bytes, left, open_json }, '\n'))
  else
    redis.call('HDEL', keys.mail, message_id)
    redis.call('HINCRBY', keys.mail, 'bytes', '-' .. bytes)
  end
  return sender
end

-- Drops these members with their texts; also one whose text has expired.
local function drop_members(keys, device, members)
  for _, member in ipairs(members) do
    if not drop_mail(keys, device, string.match(member, '([^:]*)$')) then redis.call('ZREM', keys.inbox, member) end
  end
end

-- Drops what has been in this mailbox for longer than `seconds`. All of it (a mailbox is bounded), so that the next read
-- or count finds nothing expired.
local function purge_mail(keys, device, now, seconds)
  local before = '(' .. device .. ':' .. int(now - seconds * 1000)
  drop_members(keys, device, redis.call('ZRANGEBYLEX', keys.inbox, '[' .. device .. ':', before))
end

-- The same of all devices (ids and rows): messages for one that never comes back must not keep the account full for ever.
-- RETURNS bytes of all that is left; 0: every mailbox is empty.
local function purge_all(keys, devices, now, seconds)
  local held = tonumber(redis.call('HGET', keys.mail, 'bytes') or '0')
  if held == 0 then return 0 end
  for i = 1, #devices, 2 do purge_mail(keys, devices[i], now, seconds) end
  return tonumber(redis.call('HGET', keys.mail, 'bytes') or '0')
end
