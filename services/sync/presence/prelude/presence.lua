-- Presence is what was last announced: device -> '1<since_ms>' online, '0<last_seen_ms>' offline; `v` -> version.
-- Only devices with a row are in it, and streams without a device as `~<name>`.
-- (After `clock` and `routes`.)
local PRESENCE_SECONDS = 90 * 86400

-- So many closed rows are kept: every script reads all rows, and a client that opens streams without end must not make
-- that expensive.
local CLOSED_KEPT = 128

-- Drops the rows that are over. `dead`: channels whose routes count as gone.
-- RETURNS sets by device: has an open stream; last seen by its ended streams; when the last of them closed.
local function sort_routes(key, rows, now, dead)
  local live, seen, closed, kept = {}, {}, {}, {}
  for _, row in ipairs(rows) do
    if row.open and not dead[row.channel] then
      live[row.device] = true
    else
      -- A time in the future is from before the clock was set back: the grace counts as over.
      if row.closed > 0 and row.closed <= now then closed[row.device] = math.max(closed[row.device] or 0, row.closed) end
      seen[row.device] = math.max(seen[row.device] or 0, row.closed, row.seen)
      if row.closed == 0 or now - row.closed > GONE_MS then redis.call('HDEL', key, row.id) else kept[#kept + 1] = row end
      row.open = false
    end
  end
  if #kept > CLOSED_KEPT then
    table.sort(kept, function(a, b) return a.closed > b.closed or (a.closed == b.closed and a.id < b.id) end)
    -- The latest of each device stays: its grace is counted from it.
    for i = CLOSED_KEPT + 1, #kept do
      if closed[kept[i].device] ~= kept[i].closed then redis.call('HDEL', key, kept[i].id) end
    end
  end
  return live, seen, closed
end

-- Makes a new version and notifies every replica that has a stream of the account. At least the time in ms, so that it
-- rises also where a failover lost the last one. `but`: the row of a stream that is told by its own attach.
local function raise_version(keys, rows, now, but)
  local version = int(math.max(tonumber(redis.call('HGET', keys.presence, 'v') or '0') + 1, now))
  redis.call('HSET', keys.presence, 'v', version)
  redis.call('EXPIRE', keys.presence, PRESENCE_SECONDS)
  notify_all(rows, 'presence', BUS.presence .. '\n' .. account_of(keys.presence) .. '\n' .. version, but)
  return version
end

-- Compares presence with the routes, changes what differs, and raises the version if something did (or if `bump`).
-- A device whose last stream closed less than `grace` ms ago stays online. `devices`: ids and rows; `but`: see above.
-- RETURNS version, ms until the first grace ends (0: none runs), devices gone online, devices gone offline
local function reconcile(keys, rows, devices, now, grace, dead, bump, but)
  local live, seen, closed = sort_routes(keys.routes, rows, now, dead)
  local flat, states, ids, wait, on, off = redis.call('HGETALL', keys.presence), {}, {}, 0, 0, 0
  for i = 1, #devices, 2 do ids[devices[i]] = true end
  local function counts(device) return string.sub(device, 1, 1) == '~' or ids[device] end
  for i = 1, #flat, 2 do
    local device, state = flat[i], flat[i + 1]
    states[device] = state
    if device ~= 'v' and string.sub(state, 1, 1) == '1' and not (live[device] and counts(device)) then
      local left = closed[device] and counts(device) and closed[device] + grace - now or 0
      if left > 0 then
        wait = wait == 0 and left or math.min(wait, left)
      elseif string.sub(device, 1, 1) == '~' or not counts(device) then
        redis.call('HDEL', keys.presence, device)
        off = off + 1
      else
        redis.call('HSET', keys.presence, device, '0' .. int(seen[device] or now))
        off = off + 1
      end
    end
  end
  for device in pairs(live) do
    if string.sub(states[device] or '0', 1, 1) == '0' and counts(device) then
      redis.call('HSET', keys.presence, device, '1' .. int(now))
      on = on + 1
    end
  end
  local changed = bump or on > 0 or off > 0 or not states.v
  return changed and raise_version(keys, rows, now, but) or states.v, wait, on, off
end
