-- Presence is what was last announced: device -> '1<since_ms>' online, '0<last_seen_ms>' offline; `v` -> version.
-- Only devices with a row are in it, and streams without a device as `~<name>`.
-- (Comes after `version` and `ended-routes`.)

-- Compares presence with the routes, changes what differs, and raises the version if something did, or if `arrived`,
-- the device of a stream that opened, has a row. A device whose last stream closed less than `grace` ms ago stays
-- online.
-- `rows` and `closed`: those of `read_routes`; `devices`: ids and rows; `but`: the row of a stream whose own attach
-- returns the change.
-- RETURNS version, ms until the first grace ends (0: none runs), devices gone online, devices gone offline, states as in
-- the key
local function reconcile(keys, rows, closed, devices, now, grace, dead, arrived, but)
  local live, seen, ended = sort_routes(keys.routes, rows, closed, now, dead, but and but.device), nil, nil
  local before, states, has_row = redis.call('HGETALL', keys.presence), {}, {}
  local before_version, wait, on, off = nil, 0, 0, 0
  for i = 1, #devices, 2 do has_row[devices[i]] = true end
  local function counts(device) return has_row[device] or string.sub(device, 1, 1) == '~' end
  for device in pairs(live) do
    if not counts(device) then live[device] = nil end
  end
  for i = 1, #before, 2 do
    local device, state = before[i], before[i + 1]
    local was_online = device ~= 'v' and string.sub(state, 1, 1) == '1'
    if was_online and not live[device] then
      if not ended then seen, ended = read_ends(rows, closed, now) end
      local left = ended[device] and counts(device) and ended[device] + grace - now or 0
      if left > 0 then
        wait = wait == 0 and left or math.min(wait, left)
      elseif not has_row[device] then
        redis.call('HDEL', keys.presence, device)
        state, off = nil, off + 1
      else
        state, off = '0' .. int(seen[device] or now), off + 1
        redis.call('HSET', keys.presence, device, state)
      end
    elseif live[device] and not was_online then
      state, on = '1' .. int(now), on + 1
      redis.call('HSET', keys.presence, device, state)
    end
    if device == 'v' then before_version = state elseif state then add_pair(states, device, state) end
    live[device] = nil
  end
  -- The remaining devices have not been announced at all.
  for device in pairs(live) do
    redis.call('HSET', keys.presence, device, '1' .. int(now))
    add_pair(states, device, '1' .. int(now))
    on = on + 1
  end
  if on > 0 or off > 0 or not before_version or (arrived and counts(arrived)) then
    local snapshot = { devices = devices, states = states }
    return raise_version(keys, open_among(rows, but), now, before_version, snapshot), wait, on, off, states
  end
  add_pair(states, 'v', before_version)
  return before_version, wait, on, off, states
end

-- Returns the transitions for an answer: devices gone online and offline, or '' without any.
local function transitions_of(on, off)
  return on + off > 0 and int(on) .. ' ' .. int(off) or ''
end
