-- Presence is what was last announced: device -> '1<since_ms>' online, '0<last_seen_ms>' offline; `v` -> version.
-- Only devices with a row are in it, and streams without a device as `~<name>`.
-- (After `version` and `ended-routes`.)

-- Compares presence with the routes, changes what differs, and raises the version if something did (or if `bump`).
-- A device whose last stream closed less than `grace` ms ago stays online. `devices`: ids and rows; `but`: as of
-- `raise_version`.
-- RETURNS version, ms until the first grace ends (0: none runs), devices gone online, devices gone offline, states as in
-- the key
local function reconcile(keys, rows, devices, now, grace, dead, bump, but)
  local live, seen, closed = sort_routes(keys.routes, rows, now, dead)
  local before, states, known, ids = redis.call('HGETALL', keys.presence), {}, {}, {}
  local before_version, wait, on, off = nil, 0, 0, 0
  for i = 1, #devices, 2 do ids[devices[i]] = true end
  local function counts(device) return string.sub(device, 1, 1) == '~' or ids[device] end
  for i = 1, #before, 2 do
    local device, state = before[i], before[i + 1]
    local was_online = device ~= 'v' and string.sub(state, 1, 1) == '1'
    if was_online and not (live[device] and counts(device)) then
      local left = closed[device] and counts(device) and closed[device] + grace - now or 0
      if left > 0 then
        wait = wait == 0 and left or math.min(wait, left)
      elseif string.sub(device, 1, 1) == '~' or not counts(device) then
        redis.call('HDEL', keys.presence, device)
        state, off = nil, off + 1
      else
        state, off = '0' .. int(seen[device] or now), off + 1
        redis.call('HSET', keys.presence, device, state)
      end
    elseif live[device] and not was_online and counts(device) then
      state, on = '1' .. int(now), on + 1
      redis.call('HSET', keys.presence, device, state)
    end
    if device == 'v' then before_version = state elseif state then add_pair(states, device, state) end
    known[device] = true
  end
  for device in pairs(live) do
    if not known[device] and counts(device) then
      redis.call('HSET', keys.presence, device, '1' .. int(now))
      add_pair(states, device, '1' .. int(now))
      on = on + 1
    end
  end
  if bump or on > 0 or off > 0 or not before_version then
    return raise_version(keys, rows, now, but, { devices = devices, states = states }), wait, on, off, states
  end
  add_pair(states, 'v', before_version)
  return before_version, wait, on, off, states
end
