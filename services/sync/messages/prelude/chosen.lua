-- Whom a message is for: what of the account is read for it, and who of that it means.

-- The rows of these two devices, as HGETALL tells them: of a message to one device the others need not be read.
local function rows_of(key, sender, receiver)
  local found, flat = redis.call('HMGET', key, sender, receiver), {}
  if found[1] then flat = { sender, found[1] } end
  if found[2] and receiver ~= sender then flat[#flat + 1], flat[#flat + 2] = receiver, found[2] end
  return flat
end

-- The devices, of these rows, that a message is for, as { id, name, error or '', pushed }; and the sender's own name, nil when
-- it has no row.
local function chosen_targets(devices, how, whom, sender)
  local targets, own_name = {}, nil
  for i = 1, #devices, 2 do
    local id, name = devices[i], string.match(devices[i + 1], '^[^\n]*')
    if id == sender then own_name = name end
    if (how == '*' and id ~= sender) or (how == '=' and id == whom) or (how == '~' and name == whom) then
      targets[#targets + 1] = { id, name, '', false }
    end
  end
  return targets, own_name
end

-- Whether one of the open routes is that of a stream without a device, of this name (`~<name>`).
local function is_connected(open, stream_name)
  for i = 2, #open, 2 do
    if open[i] == stream_name then return true end
  end
  return false
end
