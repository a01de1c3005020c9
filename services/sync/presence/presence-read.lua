-- Reads the rows of the account and what was last announced of them, in one step.
-- Keys and arguments: presenceRead in scripts.ts.
-- RETURNS OK, devices (id, row, ...), presence (device or `v`, state, ...)
return { 'OK', redis.call('HGETALL', keys.devices), redis.call('HGETALL', keys.presence) }
