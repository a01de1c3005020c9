-- Reads and writes pushes. `{u}:push` holds the registrations and the jobs:
--   r:<platform>:<device> -> id \n hash of the target \n fence \n created \n last ok \n suspended (0: active) \n preview \n target
--   j:<job> -> newest item \n since \n attempts[.left] \n not before
-- `left`: how many attempts in a row, up to the last, were left to other replicas. It is the fraction of the attempts,
-- because replicas of older versions read the attempts as a number, and drop the fraction.
-- A job is push:<platform>:<kind>:<device>:<peer>, so that everything of one kind from one peer becomes one push.
local PUSH_PLATFORMS = { 'web', 'fcm', 'apns' }
-- How long nothing is sent to a registration that its push service refused. The registration stays.
local SUSPENDED_MS = 600000

local function read_registration(keys, platform, device)
  local stored = redis.call('HGET', keys.push, 'r:' .. platform .. ':' .. device)
  if not stored then return nil end
  local r = { stored = stored }
  r.id, r.hash, r.fence, r.created, r.ok, r.suspended, r.preview, r.target =
    string.match(stored, '^(.-)\n(.-)\n(.-)\n(.-)\n(.-)\n(.-)\n(.-)\n(.*)$')
  return r
end

local function write_registration(keys, platform, device, r)
  local fields = { r.id, r.hash, r.fence, r.created, r.ok, r.suspended, r.preview, r.target }
  redis.call('HSET', keys.push, 'r:' .. platform .. ':' .. device, table.concat(fields, '\n'))
end

local function is_suspended(r, now)
  return r.suspended ~= '0' and tonumber(r.suspended) + SUSPENDED_MS > now
end

-- RETURNS newest item, since, attempts, left (texts; '' is 0), not before; nil if there is no such job.
local function read_job(keys, job)
  return string.match(redis.call('HGET', keys.push, 'j:' .. job) or '', '^(.-)\n(.-)\n(%d+)%.?(%d*)\n(.-)$')
end

local function write_job(keys, job, newest, since, attempts, left, not_before)
  local tries = (left == '' or left == '0') and attempts or attempts .. '.' .. left
  redis.call('HSET', keys.push, 'j:' .. job, table.concat({ newest, since, tries, not_before }, '\n'))
end

local function drop_job(keys, job)
  redis.call('ZREM', keys.due, job)
  redis.call('HDEL', keys.push, 'j:' .. job)
end

-- Returns the pending jobs of a device on this platform.
local function jobs_of(keys, platform, device)
  local jobs = {}
  for _, field in ipairs(redis.call('HKEYS', keys.push)) do
    local job = string.match(field, '^j:(push:' .. platform .. ':.*)$')
    if job and string.match(job, '^push:[a-z]+:[a-z]+:(.-):') == device then jobs[#jobs + 1] = job end
  end
  return jobs
end

local function reset_attempts(keys, job, newest, since)
  write_job(keys, job, newest, since, '0', '', '0')
end

-- Makes a job due now and resets its attempts, because they were for another registration.
local function begin_anew(keys, now, job, newest, since)
  reset_attempts(keys, job, newest, since)
  redis.call('ZADD', keys.due, now, job)
end

-- Drops the registrations of a device on `platform` ('': on all platforms), with their jobs. With `fence` it drops only
-- a registration of the target `hash` that has no higher fence.
-- RETURNS (hash, fence) of each dropped target.
local function drop_registrations(keys, device, platform, fence, hash)
  local dropped = {}
  for _, each in ipairs(PUSH_PLATFORMS) do
    local r = (platform == '' or platform == each) and read_registration(keys, each, device) or nil
    if r and (fence == nil or (r.hash == hash and tonumber(r.fence) <= fence)) then
      redis.call('HDEL', keys.push, 'r:' .. each .. ':' .. device)
      dropped[#dropped + 1] = r.hash
      dropped[#dropped + 1] = r.fence
      for _, job in ipairs(jobs_of(keys, each, device)) do drop_job(keys, job) end
    end
  end
  return dropped
end
