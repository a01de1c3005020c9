-- Removes everything that is kept of an account but its open routes: each open stream is told that its position is
-- gone, and so fetches its state again.
-- uses: clock routes log presence
-- KEYS[1] routes
-- KEYS[2] log
-- KEYS[3] presence
-- KEYS[4] devices
-- KEYS[5] mail
-- KEYS[6] inbox
-- KEYS[7] clipboard
-- KEYS[8] due
-- ARGV[1] 32 random bits
-- RETURNS OK, ids of the account's transfers, whose records lie in keys of their own
local keys, now, transfers, kept = { routes = KEYS[1], log = KEYS[2], presence = KEYS[3] }, now_ms(), {}, {}
local rows = read_routes(keys.routes, now)
for _, fact in ipairs(redis.call('ZRANGE', KEYS[8], 0, -1)) do
  local transfer = string.match(fact, '^transfer:(.*)$')
  if transfer then transfers[#transfers + 1] = transfer end
end
-- Sessions that the auth broker has still to be told of are not data of the account: they end with it.
for _, fact in ipairs(redis.call('ZRANGE', KEYS[8], 0, -1, 'WITHSCORES')) do kept[#kept + 1] = fact end
local version = redis.call('HGET', keys.presence, 'v')
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8])
for i = 1, #kept, 2 do
  if string.match(kept[i], '^revoke:') then redis.call('ZADD', KEYS[8], kept[i + 1], kept[i]) end
end
local top = append(keys.log, now, ARGV[1], '', '', '')
ring_all(rows, 'erased', table.concat({ 't', account_of(keys.log), top }, '\n'))
if version then redis.call('HSET', keys.presence, 'v', version) end
raise_version(keys, rows, now)
return answer({ 'OK', transfers })
