-- Looks again at who of the account is online: after the grace of a closed stream, for the accounts of a dead
-- replica, and when a replica is rung for an account of which it holds no stream (its own channel is then `dead`).
-- Keys and arguments: presenceLook in scripts.ts.
-- uses: clock routes presence/presence
-- RETURNS OK, ms after which to look again (0: settled), online + offline transitions
local now = now_ms()
local _, wait, on, off = reconcile(keys, read_routes(keys.routes, now, late_ms), now, GRACE_MS, dead, false)
return { 'OK', int(wait), int(on) .. ' ' .. int(off) }
