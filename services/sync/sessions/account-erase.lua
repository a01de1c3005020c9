-- Removes what is kept of an account but its open routes and the records of transfers: each open stream is told that its
-- position is gone, and so fetches its state again.
-- uses: clock routes log hub/presence
-- KEYS[1] routes
-- KEYS[2] log
-- KEYS[3] presence
-- KEYS[4] devices
-- KEYS[5] mail
-- KEYS[6] inbox
-- KEYS[7] clipboard
-- KEYS[8] due
-- KEYS[9] files that hold bytes in the relay
-- ARGV[1] 32 random bits
-- RETURNS OK, how many transfers are left
local keys, now, kept, transfers = { routes = KEYS[1], log = KEYS[2], presence = KEYS[3] }, now_ms(), {}, 0
local rows = read_routes(keys.routes, now)
-- Sessions that end, or of which nobody has heard yet, are no data of the account: the auth broker is to be told of them
-- all the same. A transfer's fact is all that leads to its record, which lies in a key of its own.
local KEPT = { revoke = true, claim = true, transfer = true }
local facts = redis.call('ZRANGE', KEYS[8], 0, -1, 'WITHSCORES')
for i = 1, #facts, 2 do
  local kind = string.match(facts[i], '^[^:]*')
  if KEPT[kind] then kept[#kept + 1] = { facts[i + 1], facts[i] } end
  if kind == 'transfer' then transfers = transfers + 1 end
end
local version = redis.call('HGET', keys.presence, 'v')
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9])
for _, fact in ipairs(kept) do redis.call('ZADD', KEYS[8], fact[1], fact[2]) end
local top = append(keys.log, now, ARGV[1], '', '', '')
ring_all(rows, 'erased', table.concat({ 't', account_of(keys.log), top }, '\n'))
if version then redis.call('HSET', keys.presence, 'v', version) end
raise_version(keys, rows, now)
return answer({ 'OK', tostring(transfers) })
