-- Builds the answer again for a message that was sent before and accepted, because no answer is kept without a client's
-- key. (Comes after `push/queue`.)

-- `entry`: the log entry of the message, as `logged_before` returns it; `targets`: the devices that the same target means
-- now. The answer names only devices that have the message, and those of `targets` whose mailbox is full. A device that is
-- gone has its id as its name.
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
