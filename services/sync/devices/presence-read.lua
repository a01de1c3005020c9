-- The rows and what was last announced of them, of one moment.
-- uses: clock
-- KEYS[1] devices
-- KEYS[2] presence
-- RETURNS OK, devices (id, row, ...), presence (device or v, state, ...)
return { 'OK', redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }
