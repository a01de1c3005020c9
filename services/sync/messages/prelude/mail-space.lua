-- How much the mailboxes of an account hold, and whether there is space. (Comes after `mail`.)

-- Returns how much the mailboxes hold. First purges those of all devices once a minute, because messages for a device
-- that never comes back must not keep the account full for ever.
-- RETURNS bytes of all, 0: every mailbox is empty; and this minute, or nil when nothing has to be done in it any more.
local function held_mail(keys, now)
  local stored, minute = redis.call('HMGET', keys.mail, 'bytes', 'purged'), int(math.floor(now / 60000))
  local held = tonumber(stored[1] or '0')
  if stored[2] == minute then return held, nil end
  if held == 0 then return held, minute end
  for _, device in ipairs(redis.call('HKEYS', keys.devices)) do purge_mail(keys, device, now) end
  return tonumber(redis.call('HGET', keys.mail, 'bytes') or '0'), minute
end

-- Returns whether a mailbox may be at its limit of messages. None is while all mailboxes together hold fewer. The store
-- knows the total, but the messages of one mailbox have to be counted.
local function may_one_be_full(keys, held)
  return held > 0 and redis.call('ZCARD', keys.inbox) >= LIMITS.mailboxMessages
end
