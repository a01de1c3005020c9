-- Writes the registration of a device: one for each platform. The same target keeps its id; a claim of the target that
-- came later keeps its place. What another target's push service had put off is due now. (The account has been noted.)
-- uses: clock push
-- KEYS[1] devices
-- KEYS[2] push
-- KEYS[3] due
-- ARGV[1] device
-- ARGV[2] platform
-- ARGV[3] id for a new one
-- ARGV[4] hash of the target
-- ARGV[5] fence
-- ARGV[6] preview
-- ARGV[7] target as JSON
-- RETURNS OK, id, hash and fence of the target that was replaced ('' '0': none), facts to be run at once | device_required
local keys, now, device, platform = { push = KEYS[2], due = KEYS[3] }, now_ms(), ARGV[1], ARGV[2]
if redis.call('HEXISTS', KEYS[1], device) == 0 then return { 'device_required' } end
local old = read_registration(keys, platform, device)
local same = old and old.hash == ARGV[4]
if same and tonumber(old.fence) > tonumber(ARGV[5]) then return { 'OK', old.id, '', '0', {} } end
write_registration(keys, platform, device, {
  id = same and old.id or ARGV[3], hash = ARGV[4], fence = ARGV[5], created = same and old.created or int(now),
  ok = same and old.ok or '0', suspended = '0', preview = ARGV[6], target = ARGV[7],
})
if same or not old then return { 'OK', same and old.id or ARGV[3], '', '0', {} } end
local facts = {}
for _, fact in ipairs(jobs_of(keys, platform, device)) do
  local newest, since, _, not_before = read_job(keys, fact)
  if newest and tonumber(not_before) > now then
    begin_anew(keys, now, fact, newest, since)
    facts[#facts + 1] = fact
  end
end
return { 'OK', ARGV[3], old.hash, old.fence, facts }
