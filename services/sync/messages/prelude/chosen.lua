-- Whom a message is for: what of the account is read for it, and who of that it means. (After `devices/names`.)

-- The rows of these two devices, as HGETALL tells them: of a message to one device the others need not be read.
local function rows_of(key, sender, receiver)
  local found, flat = redis.call('HMGET', key, sender, receiver), {}
  if found[1] then flat = { sender, found[1] } end
  if found[2] and receiver ~= sender then flat[#flat + 1], flat[#flat + 2] = receiver, found[2] end
  return flat
end

-- The devices, of these rows, that a message is for, as { id, name, error or '', pushed }; the sender's own name, nil when it
-- has no row; and whether a name fits several. A stream without a device has the id '': it has no mailbox, and gets only what
-- arrives while it is connected.
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
