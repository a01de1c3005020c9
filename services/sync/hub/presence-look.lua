-- Looks again at who of the account is online: after the grace of a closed stream, for the accounts of a dead
-- replica, and when a replica is rung for an account of which it holds no stream (its own channel is then `dead`).
-- uses: clock routes hub/presence
-- KEYS[1] routes
-- KEYS[2] presence
-- KEYS[3] devices
-- ARGV[1] grace in ms
-- ARGV[2] channels of dead replicas, joined by line ends
-- ARGV[3] ms that rows may be older than usual
-- RETURNS OK, ms after which to look again (0: settled), online + offline transitions
local keys, dead, now = { routes = KEYS[1], presence = KEYS[2], devices = KEYS[3] }, {}, now_ms()
for name in string.gmatch(ARGV[2], '[^\n]+') do dead[name] = true end
local _, wait, on, off = reconcile(keys, read_routes(keys.routes, now, tonumber(ARGV[3])), now, tonumber(ARGV[1]), dead, false)
return answer({ 'OK', int(wait), int(on) .. ' ' .. int(off) })
