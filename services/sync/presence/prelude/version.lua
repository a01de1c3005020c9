-- The version of an account's presence, and its announcement. (After `clock` and `routes`.)
local PRESENCE_SECONDS = 90 * 86400

local function add_pair(flat, name, value)
  flat[#flat + 1], flat[#flat + 2] = name, value
end

-- An announcement carries the snapshot of accounts with no more devices; of others each replica reads it for itself.
local CARRIED_DEVICES = 16

-- The announcement of a version. `snapshot`: devices and states, as `presence-read` tells them, or nil.
local function presence_payload(account, version, snapshot)
  local payload = BUS.presence .. '\n' .. account .. '\n' .. version
  local count = snapshot and #snapshot.devices or 0
  -- Beside the devices, `v` has a state.
  local most = 2 * CARRIED_DEVICES
  if count == 0 or count > most or #snapshot.states > most + 2 then return payload end
  return payload .. '\n' .. cjson.encode(snapshot)
end

-- Whether an open stream, but that of the row `but`, is there to be notified.
local function is_heard(rows, but)
  for _, row in ipairs(rows) do
    if row.open and row ~= but then return true end
  end
  return false
end

-- Makes a new version and notifies every replica that has a stream of the account. At least the time in ms, so that it
-- rises also where a failover lost the last one. `but`: the row of a stream that is told by its own attach. `snapshot`:
-- devices and states without `v`, which is added.
local function raise_version(keys, rows, now, but, snapshot)
  local version = int(math.max(tonumber(redis.call('HGET', keys.presence, 'v') or '0') + 1, now))
  redis.call('HSET', keys.presence, 'v', version)
  redis.call('EXPIRE', keys.presence, PRESENCE_SECONDS)
  if snapshot then add_pair(snapshot.states, 'v', version) end
  if is_heard(rows, but) then notify_all(rows, 'presence', presence_payload(account_of(keys.presence), version, snapshot), but) end
  return version
end
