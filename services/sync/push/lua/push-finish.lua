-- Writes the outcome of a push that was taken. The outcome concerns only the registration that the push was sent to. A
-- registration that was renewed meanwhile still gets the push. An item that arrived meanwhile is another push.
-- Keys and arguments: pushFinish in scripts.ts.
-- uses: clock push/push
-- RETURNS OK, hash and fence of the deleted registration ('' '0': none)
local now = now_ms()
local r = read_registration(keys, platform, device)
local same = r and r.fence == fence
if same and outcome == 'gone' then
  drop_registrations(keys, device, platform, tonumber(fence), r.hash)
  return { 'OK', r.hash, r.fence }
end
if same and (outcome == 'delivered' or outcome == 'suspend') then
  if outcome == 'delivered' then r.ok, r.suspended = int(now), '0' else r.suspended = int(now) end
  write_registration(keys, platform, device, r)
end
local newest, since, attempts, left = read_job(keys, job)
if not newest then return { 'OK', '', '0' } end
-- A renewed registration of the same target keeps the pause that its push service asked for.
local is_anew = r and not same and (r.hash ~= hash or outcome == 'gone' or outcome == 'suspend')
if is_anew and outcome ~= 'delivered' then
  begin_anew(keys, now, job, newest, since)
elseif retry_ms then
  local next_at = now + retry_ms
  local now_left = outcome == 'not_here' and int((tonumber(left) or 0) + 1) or ''
  write_job(keys, job, newest, since, int(attempts + 1), now_left, int(next_at))
  -- Another item of the same peer may have brought the job forward meanwhile.
  redis.call('ZADD', keys.due, next_at, job)
elseif newest == taken_newest then
  drop_job(keys, job)
elseif outcome == 'delivered' then
  reset_attempts(keys, job, newest, since)
end
return { 'OK', '', '0' }
