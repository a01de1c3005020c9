-- Takes a push that is due, for LEASE_MS, and checks whether it is still wanted. A push for something that was
-- acknowledged, accepted or removed meanwhile is dropped. A push for a message or an offer that a live stream got is put
-- off, since the device may still acknowledge or accept it. A push for an offer is put off for as long as the stream is
-- live, because people think about offers, and a sleeping device is known only when its stream ends.
-- Keys and arguments: pushTake in scripts.ts.
-- uses: clock routes push/push push/queue transfers/offers push/pushable
-- RETURNS OK, outcome (taken | later: put off, or not due | the reason why it was dropped), [taken: registration, newest
--         item of the job, since, attempts, how many of the last were left to other replicas, now, when it was due,
--         count, id, and for a preview the newest message, or who offers or has joined, as JSON without its end; else '']
-- The longest time until a push for an offer is looked at again.
local LOOK_MS = 300000
local now = now_ms()
local at = redis.call('ZSCORE', keys.due, job)
if not at or tonumber(at) > now then return { 'OK', 'later' } end
local newest, since, attempts, left = read_job(keys, job)
local r, why = read_registration(keys, platform, device), nil
if not newest then why = 'lost' end
if not r or redis.call('HEXISTS', keys.devices, device) == 0 then why = 'unsubscribed' end
if r and is_suspended(r, now) then why = 'suspended' end
local count, id, oldest, text = 1, newest or '', 0, ''
if kind == 'message' then count, id, oldest, text = pending_messages(keys, device, peer, id, LIMITS.pushCount) end
if kind == 'transfer' then count, id = pending_offers_of(keys, device, peer, LIMITS.pushCount) end
local row = kind ~= 'message' and redis.call('HGET', keys.devices, peer)
if kind == 'device' then count = row and 1 or 0 end
if row then text = '{"from_name":' .. cjson.encode(string.match(row, '^[^\n]*')) end
if count == 0 then why = why or 'settled' end
local live = (kind == 'message' or kind == 'transfer') and has_live_stream(open_routes(keys.routes, now), dead, device)
if kind == 'transfer' then oldest = tonumber(since or '0') end
local again = oldest + LIMITS.pushSilenceMs
if kind == 'transfer' and again <= now then again = now + math.min(now - oldest, LOOK_MS) end
if why then
  drop_job(keys, job)
  return { 'OK', why }
end
if live and again > now then
  redis.call('ZADD', keys.due, again, job)
  return { 'OK', 'later' }
end
redis.call('ZADD', keys.due, now + LEASE_MS, job)
local message = r.preview ~= 'none' and text or ''
return { 'OK', 'taken', r.stored, newest, since, attempts, left, int(now), int(at), int(count), id, message }
