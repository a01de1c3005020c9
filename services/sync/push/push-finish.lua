-- What became of a push that was taken. Only the registration that it was sent to is touched: one that was renewed
-- meanwhile is another, which has the push still before it, and what came for the device meanwhile is another push.
-- uses: clock push
-- KEYS[1] due
-- KEYS[2] push
-- ARGV[1] fact
-- ARGV[2] platform
-- ARGV[3] device
-- ARGV[4] fence of the registration
-- ARGV[5] newest item of the job when it was taken
-- ARGV[6] delivered | gone | retry | suspend | dropped
-- ARGV[7] retry: ms until the next try
-- ARGV[8] hash of the target that it was sent to
-- RETURNS OK, hash and fence of the registration that was deleted ('' '0': none)
local keys, now, fact, outcome = { due = KEYS[1], push = KEYS[2] }, now_ms(), ARGV[1], ARGV[6]
local r = read_registration(keys, ARGV[2], ARGV[3])
local same = r and r.fence == ARGV[4]
if same and outcome == 'gone' then
  drop_registrations(keys, ARGV[3], ARGV[2], tonumber(ARGV[4]), r.hash)
  return { 'OK', r.hash, r.fence }
end
if same and (outcome == 'delivered' or outcome == 'suspend') then
  if outcome == 'delivered' then r.ok, r.suspended = int(now), '0' else r.suspended = int(now) end
  write_registration(keys, ARGV[2], ARGV[3], r)
end
local newest, since, attempts = read_job(keys, fact)
if not newest then return { 'OK', '', '0' } end
-- For the same target, sent again, what its push service said of when still holds.
local is_anew = r and not same and (r.hash ~= ARGV[8] or outcome == 'gone' or outcome == 'suspend')
if is_anew and outcome ~= 'delivered' then
  begin_anew(keys, now, fact, newest, since)
elseif outcome == 'retry' then
  local next_at = now + tonumber(ARGV[7])
  redis.call('HSET', keys.push, 'j:' .. fact, table.concat({ newest, since, int(attempts + 1), int(next_at) }, '\n'))
  -- Another push of the same peer may have brought it forward meanwhile.
  redis.call('ZADD', keys.due, next_at, fact)
elseif newest == ARGV[5] then
  drop_job(keys, fact)
end
return { 'OK', '', '0' }
