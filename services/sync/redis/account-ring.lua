-- Rings every replica of an account to compare what its streams have seen with the log's end and the presence version:
-- for when nobody learned what a script did, or whether its announcement was heard.
-- uses: clock routes
-- KEYS[1] routes
-- KEYS[2] log
-- KEYS[3] presence
-- RETURNS OK
local account = account_of(KEYS[1])
local rows = read_routes(KEYS[1], now_ms())
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if last then ring_all(rows, 'compare', 't\n' .. account .. '\n' .. last[1]) end
local version = redis.call('HGET', KEYS[3], 'v')
if version then ring_all(rows, 'compare', 'p\n' .. account .. '\n' .. version) end
return answer({ 'OK' })
