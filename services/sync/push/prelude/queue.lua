-- Enqueues pushes, from the scripts that accept what a device should be woken for. (After `routes` and `push`.)
-- A script may enqueue only when `pushes` is 'scheduled'. The account is then already in the index of due jobs, so no push
-- is lost when the replica dies right after this script (push-queue.ts).

-- Jobs that are due at once, for the caller to push.
local PUSH_NOW = {}

-- Returns whether the script must do nothing now, because the account has subscriptions and is not in the index yet. An
-- account without subscriptions needs no second trip.
local function must_schedule(keys, pushes)
  return pushes == 'unscheduled' and redis.call('EXISTS', keys.push) == 1
end

-- Returns whether a push would be enqueued for the device.
local function has_registration(keys, now, device)
  for _, platform in ipairs(PUSH_PLATFORMS) do
    local r = read_registration(keys, platform, device)
    if r and not is_suspended(r, now) then return true end
  end
  return false
end

-- Enqueues a push, due in `delay` ms, for each registration of the device that is not suspended. RETURNS whether there
-- is such a registration.
local function enqueue_push(keys, now, delay, kind, device, peer, id)
  local enqueued = false
  for _, platform in ipairs(PUSH_PLATFORMS) do
    local r = read_registration(keys, platform, device)
    if r and not is_suspended(r, now) then
      local job = table.concat({ 'push', platform, kind, device, peer }, ':')
      local _, _, attempts, left, not_before = read_job(keys, job)
      local at = math.max(now + delay, tonumber(not_before or '0'))
      write_job(keys, job, id, int(now), attempts or '0', left or '', not_before or '0')
      redis.call('ZADD', keys.due, 'LT', at, job)
      if at <= now then PUSH_NOW[#PUSH_NOW + 1] = job end
      enqueued = true
    end
  end
  return enqueued
end

-- Returns whether one of the open routes is this device's, on a replica not known to be dead. `dead` is a set of channels.
local function has_live_stream(open, dead, device)
  for i = 1, #open, 2 do
    if open[i + 1] == device and not dead[open[i]] then return true end
  end
  return false
end
