-- Clears the clipboard and announces that. An empty clipboard stays as it is. With `only_when_over` it clears only an
-- entry whose lifetime is over: Redis has already expired its key, and the job is removed in the step that announces it.
-- Keys and arguments: clipboardClear in scripts.ts.
-- uses: clock routes log
-- RETURNS OK, cleared ('1' | '0')
local now = now_ms()
local expires = redis.call('ZSCORE', keys.due, 'clipboard')
if not expires or (only_when_over and tonumber(expires) > now) then return { 'OK', '0' } end
redis.call('DEL', keys.clipboard)
redis.call('ZREM', keys.due, 'clipboard')
append_and_notify(keys, routes_to_notify(keys.routes, now), now, random, 'clipboard:cleared', '*', '{}')
return { 'OK', '1' }
