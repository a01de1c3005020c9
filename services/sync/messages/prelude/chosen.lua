-- The targets of a message: which rows of the account are read for it, and which of them it is for. (Comes after
-- `devices/names`.)

-- Returns the rows of these two devices in the form of HGETALL. For a message to one device the others need not be
-- read.
local function rows_of(key, sender, receiver)
  local found, flat = redis.call('HMGET', key, sender, receiver), {}
  if found[1] then flat = { sender, found[1] } end
  if found[2] and receiver ~= sender then flat[#flat + 1], flat[#flat + 2] = receiver, found[2] end
  return flat
end

-- Returns the devices among these rows that a message is for, as { id, name, error or '', pushed }; the sender's own
-- name, nil when it has no row; and whether a name fits several. A stream without a device has the id ''. It has no
-- mailbox, and gets only messages that arrive while it is connected.
local function chosen_targets(devices, open, how, whom, sender)
  local targets, own_name, several = {}, nil, nil
  for i = 1, #devices, 2 do
    local id, name = devices[i], string.match(devices[i + 1], '^[^\n]*')
    if id == sender then own_name = name end
    if (how == '*' and id ~= sender) or (how == '=' and id == whom) then
      targets[#targets + 1] = { id, name, '', false }
    end
  end
  if how == '~' then
    local id, name
    id, name, several = named_target(devices, whom, open)
    if id then targets[1] = { id, name, '', false } end
  end
  return targets, own_name, several
end
