-- The version of an account's presence, and its announcement. (Comes after `clock` and `routes`.)
-- How long it lives after its last version, or up to a day less, because its lifetime is renewed once a day.
local PRESENCE_SECONDS = 90 * 86400
local DAY_MS = 86400000

local function add_pair(flat, name, value)
  flat[#flat + 1], flat[#flat + 2] = name, value
end

-- An announcement carries the snapshot of an account with at most this many devices; each replica reads a larger one
-- itself.
local CARRIED_DEVICES = 16

-- Returns the announcement of a version. `snapshot`: devices and states, as `presence-read` returns them, or nil.
local function presence_payload(account, version, snapshot)
  local payload = BUS.presence .. '\n' .. account .. '\n' .. version
  local count = snapshot and #snapshot.devices or 0
  -- Besides the devices, `v` has a state.
  local most = 2 * CARRIED_DEVICES
  if count == 0 or count > most or #snapshot.states > most + 2 then return payload end
  return payload .. '\n' .. cjson.encode(snapshot)
end

-- Makes a new version and notifies every replica that has one of these open routes. The version is at least the time in
-- ms, so that it rises even if a failover lost the last one. `before`: the version until now, nil when there is none.
-- `snapshot`: devices and states without `v`, which is added.
local function raise_version(keys, open, now, before, snapshot)
  local old = tonumber(before or '0')
  local new = math.max(old + 1, now)
  local version = int(new)
  redis.call('HSET', keys.presence, 'v', version)
  if math.floor(new / DAY_MS) > math.floor(old / DAY_MS) then redis.call('EXPIRE', keys.presence, PRESENCE_SECONDS) end
  if snapshot then add_pair(snapshot.states, 'v', version) end
  if #open > 0 then notify_all(open, 'presence', presence_payload(account_of(keys.presence), version, snapshot)) end
  return version
end

-- Does the same when the version has not been read.
local function raise_unread_version(keys, open, now)
  return raise_version(keys, open, now, redis.call('HGET', keys.presence, 'v'))
end
