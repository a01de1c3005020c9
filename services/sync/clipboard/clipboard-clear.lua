-- Clears the clipboard and says so; an empty one is left as it is. With ARGV[2], only what has reached the end of its
-- lifetime: the key is gone by itself, and the fact that it has to be announced goes in the step that announces it.
-- uses: clock routes log
-- KEYS[1] routes
-- KEYS[2] log
-- KEYS[3] clipboard
-- KEYS[4] due
-- ARGV[1] 32 random bits
-- ARGV[2] '1': only when its time is over
-- RETURNS OK, cleared ('1' | '0')
local now = now_ms()
local expires = redis.call('ZSCORE', KEYS[4], 'clipboard')
if not expires or (ARGV[2] == '1' and tonumber(expires) > now) then return answer({ 'OK', '0' }) end
redis.call('DEL', KEYS[3])
redis.call('ZREM', KEYS[4], 'clipboard')
local keys = { routes = KEYS[1], log = KEYS[2] }
append_and_ring(keys, read_routes(keys.routes, now), now, ARGV[1], 'clipboard:cleared', '*', '{}')
return answer({ 'OK', '1' })
