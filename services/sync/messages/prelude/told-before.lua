-- What a message was answered with that was sent before and accepted, told anew: nothing is kept of an answer without a client's
-- key. (After `push/queue`.)

-- `entry`: that of the message, as `logged_before` tells it; `targets`: whom the same words mean now. Of these only who has it
-- is told, and whose mailbox is full. A device that is gone has its id for a name.
-- RETURNS created ms, targets as JSON.
local function told_before(keys, now, entry, targets, devices, message_id, open, dead, pushes)
  local names, told, has_it = {}, {}, {}
  for i = 1, #devices, 2 do names[devices[i]] = string.match(devices[i + 1], '^[^\n]*') end
  for whom in string.gmatch(entry.to, '[^\t]+') do
    local stream_name = string.match(whom, '^~(.*)$')
    local pushed = not stream_name and pushes == 'scheduled' and not has_live_stream(open, dead, whom)
      and has_registration(keys, now, whom)
    told[#told + 1] = stream_name and { '', stream_name, '', false } or { whom, names[whom] or whom, '', pushed }
    has_it[whom] = true
  end
  for _, target in ipairs(targets) do
    local is_full = target[1] ~= '' and not has_it[target[1]] and count_mail(keys.inbox, target[1]) >= LIMITS.mailboxMessages
    if is_full then told[#told + 1] = { target[1], target[2], 'mailbox_full', false } end
  end
  local json = redis.call('HGET', keys.mail, message_id) or entry.data
  local created = string.match(json, '"created_at":(%d+)') or string.match(entry.id, '^%d+')
  return created, #told == 0 and '[]' or cjson.encode(told)
end
