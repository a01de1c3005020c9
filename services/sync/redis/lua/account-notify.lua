-- Notifies every replica of an account to compare what its streams have seen with the log's end and the presence
-- version. Used when it is unknown what a script did, or whether its announcement was heard.
-- Keys and arguments: accountNotify in account-notify.ts.
-- uses: clock routes
-- RETURNS OK
local account = account_of(keys.routes)
local open = routes_to_notify(keys.routes, now_ms())
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', 1)[1]
if last then notify_all(open, 'compare', BUS.top .. '\n' .. account .. '\n' .. last[1]) end
local version = redis.call('HGET', keys.presence, 'v')
if version then notify_all(open, 'compare', BUS.presence .. '\n' .. account .. '\n' .. version) end
return { 'OK' }
