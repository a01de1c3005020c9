-- Compares what was announced of the account with its routes, and announces what differs: after the grace of a closed
-- stream, for the accounts of a dead replica, and when a replica is notified for an account of which it holds no stream
-- (its own channels are then among the `dead`).
-- Keys and arguments: presenceReconcile in scripts.ts.
-- uses: clock routes route-rows presence/version presence/ended-routes presence/presence
-- RETURNS OK, ms after which to reconcile again (0: settled), online + offline transitions
local now = now_ms()
local rows, closed = read_routes(keys.routes, now, late_ms)
local devices = redis.call('HGETALL', keys.devices)
local _, wait, on, off = reconcile(keys, rows, closed, devices, now, GRACE_MS, dead)
return { 'OK', wait, transitions_of(on, off) }
