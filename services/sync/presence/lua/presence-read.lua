-- Returns the rows and their last announced states at one moment.
-- Keys and arguments: presenceRead in scripts.ts.
-- uses: clock
-- RETURNS OK, devices (id, row, ...), presence (device or v, state, ...)
return { 'OK', redis.call('HGETALL', keys.devices), redis.call('HGETALL', keys.presence) }
