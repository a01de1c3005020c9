-- Owing pushes, from the scripts that accept what is to be told. (After `routes` and `push`.)

-- Facts that are due at once, for the caller to run.
local PUSH_NOW = {}

-- Owes a device a push by each of its registrations, in `delay` ms. RETURNS whether it has one.
local function enqueue_push(keys, now, delay, kind, device, peer, id)
  local enqueued = false
  for _, platform in ipairs(PUSH_PLATFORMS) do
    local r = read_registration(keys, platform, device)
    if r and not is_suspended(r, now) then
      local job = table.concat({ 'push', platform, kind, device, peer }, ':')
      local _, _, attempts, not_before = read_job(keys, job)
      local at = math.max(now + delay, tonumber(not_before or '0'))
      redis.call('HSET', keys.push, 'j:' .. job, table.concat({ id, int(now), attempts or '0', not_before or '0' }, '\n'))
      redis.call('ZADD', keys.due, 'LT', at, job)
      if at <= now then PUSH_NOW[#PUSH_NOW + 1] = job end
      enqueued = true
    end
  end
  return enqueued
end

-- Whether the device has an open stream on a replica that is not known to be dead. `dead`: a set of channels.
local function has_live_stream(rows, dead, device)
  for _, row in ipairs(rows) do
    if row.open and row.device == device and not dead[row.channel] then return true end
  end
  return false
end
