-- Room for one more stream of an account: a device that has as many as it may gets it in the place of its oldest, so that
-- nothing is added to the account.

-- The open rows but `stream`'s own, and but those on channels of replicas that are dead, or seem so. `held`: rows of the
-- caller, who may have had another channel.
local function open_elsewhere(rows, stream, dead, ghostly, held)
  local others = {}
  for _, row in ipairs(rows) do
    local is_ghost = ghostly[row.channel] and not held[row.id]
    if row.open and row.id ~= stream and not dead[row.channel] and not is_ghost then others[#others + 1] = row end
  end
  return others
end

local function of_device(rows, device)
  local found = {}
  for _, row in ipairs(rows) do
    if row.device == device then found[#found + 1] = row end
  end
  return found
end

-- RETURNS 'free' | 'replaces' | 'none'
local function slot_for(rows, device, a_device, an_account)
  if #of_device(rows, device) >= a_device then return 'replaces' end
  return #rows >= an_account and 'none' or 'free'
end

-- The channels of the rows, without the caller's own.
local function channels_of(rows, own)
  local channels = {}
  for _, row in ipairs(rows) do
    if row.channel ~= own then channels[#channels + 1] = row.channel end
  end
  return channels
end

-- Closes the oldest of the device, so that one fewer than it may have are left.
local function supersede(key, rows, device, a_device, now)
  local siblings = of_device(rows, device)
  table.sort(siblings, function(a, b) return a.opened < b.opened or (a.opened == b.opened and a.id < b.id) end)
  for i = 1, #siblings - a_device + 1 do
    siblings[i].closed, siblings[i].open = now, false
    write_route(key, siblings[i])
    notify(siblings[i].channel, 'superseded', BUS.superseded .. '\n' .. account_of(key) .. '\n' .. siblings[i].id)
  end
end
