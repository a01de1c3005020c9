-- Removes everything of an account except its open routes and the records of transfers. Each open stream gets a reset,
-- because its position is gone, and reads its state again.
-- Keys and arguments: accountErase in scripts.ts.
-- uses: clock routes log presence/version
-- RETURNS OK, number of transfers that are left
local now, kept, transfers = now_ms(), {}, 0
local open = routes_to_notify(keys.routes, now)
-- Jobs that end a session are kept, because the auth broker must still be told. Jobs of transfers are kept, because only
-- they lead to the records, which have keys of their own. A job of `keys` is removed with the rings, after this script.
local KEPT = { revoke = true, claim = true, transfer = true, keys = true }
local jobs = redis.call('ZRANGE', keys.due, 0, -1, 'WITHSCORES')
for i = 1, #jobs, 2 do
  local kind = string.match(jobs[i], '^[^:]*')
  if KEPT[kind] then kept[#kept + 1] = { jobs[i + 1], jobs[i] } end
  if kind == 'transfer' then transfers = transfers + 1 end
end
local version = redis.call('HGET', keys.presence, 'v')
redis.call('DEL', unpack(KEYS, 2))
for _, job in ipairs(kept) do redis.call('ZADD', keys.due, job[1], job[2]) end
local top = append(keys.log, now, random, '', '', '')
notify_all(open, 'erased', table.concat({ BUS.top, account_of(keys.log), top }, '\n'))
raise_version(keys, open, now, version)
-- The key was deleted and is new, so it needs an expiry again.
redis.call('EXPIRE', keys.presence, PRESENCE_SECONDS)
return { 'OK', tostring(transfers) }
