-- Writes the registration of a device, which has one for each platform. The same target keeps its id, and a later claim of
-- that target is not overwritten. With a new target, jobs that the push service of the old target put off are due now.
-- (The account is scheduled.)
-- Keys and arguments: pushRegister in scripts.ts.
-- uses: clock push/push
-- RETURNS OK, id, hash and fence of the replaced target ('' '0': none), jobs to push at once | device_required
local now = now_ms()
if redis.call('HEXISTS', keys.devices, device) == 0 then return { 'device_required' } end
local old = read_registration(keys, platform, device)
local same = old and old.hash == hash
if same and tonumber(old.fence) > tonumber(fence) then return { 'OK', old.id, '', '0', {} } end
write_registration(keys, platform, device, {
  id = same and old.id or id, hash = hash, fence = fence, created = same and old.created or int(now),
  ok = same and old.ok or '0', suspended = '0', preview = preview, target = target,
})
if same or not old then return { 'OK', same and old.id or id, '', '0', {} } end
local jobs = {}
for _, job in ipairs(jobs_of(keys, platform, device)) do
  local newest, since, _, _, not_before = read_job(keys, job)
  if newest and tonumber(not_before) > now then
    begin_anew(keys, now, job, newest, since)
    jobs[#jobs + 1] = job
  elseif newest then
    -- The job is due, or under way to the old target.
    reset_attempts(keys, job, newest, since)
  end
end
return { 'OK', id, old.hash, old.fence, jobs }
