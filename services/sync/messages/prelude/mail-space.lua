-- What the mailboxes of an account hold, and whether there is space. (After `mail`.)

-- What the mailboxes hold. Once a minute that is purged before, of all devices: messages for one that never comes back
-- must not keep the account full for ever.
-- RETURNS bytes of all, 0: every mailbox is empty; and this minute, or nil when nothing has to be done in it any more.
local function held_mail(keys, now)
  local stored, minute = redis.call('HMGET', keys.mail, 'bytes', 'purged'), int(math.floor(now / 60000))
  local held = tonumber(stored[1] or '0')
  if stored[2] == minute then return held, nil end
  if held == 0 then return held, minute end
  for _, device in ipairs(redis.call('HKEYS', keys.devices)) do purge_mail(keys, device, now) end
  return tonumber(redis.call('HGET', keys.mail, 'bytes') or '0'), minute
end

-- Whether a mailbox may have as many messages as it may hold; none has while all together have fewer. This number is known
-- to the store, and one mailbox has to be counted.
local function may_one_be_full(keys, held)
  return held > 0 and redis.call('ZCARD', keys.inbox) >= LIMITS.mailboxMessages
end
