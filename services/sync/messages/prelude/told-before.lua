-- What a message was answered with that was sent before and accepted, told anew: nothing is kept of an answer without a client's
-- key. (After `push/queue`.)

-- `entry`: that of the message, as `logged_before` tells it. RETURNS created ms, targets as JSON.
local function told_before(keys, now, entry, targets, whom, message_id, open, dead, pushes)
  -- It went to a stream without a device.
  if #targets == 0 then targets[1] = { '', whom, '', false } end
  local addressees = '\t' .. entry.to .. '\t'
  for _, target in ipairs(targets) do
    local id = target[1]
    if id ~= '' and not string.find(addressees, '\t' .. id .. '\t', 1, true) then
      target[3] = 'mailbox_full'
    else
      target[4] = pushes == 'scheduled' and not has_live_stream(open, dead, id) and has_registration(keys, now, id)
    end
  end
  local json = redis.call('HGET', keys.mail, message_id) or entry.data
  local created = string.match(json, '"created_at":(%d+)') or string.match(entry.id, '^%d+')
  return created, cjson.encode(targets)
end
