-- Ends a transfer whose time is over: announces a live one as failed, and removes all of it.
-- Keys and arguments: transferExpire in scripts.ts.
-- uses: clock routes log transfers/transfer transfers/transfer-view transfers/offers transfers/transfer-end
-- RETURNS OK, expired ('1' | '0'), state in the relay, whether it was live ('1' | '0')
local now, t = now_ms(), read_transfer(keys.record)
local was_live = t and not is_over(t)
local job = 'transfer:' .. transfer_id
local expires = redis.call('ZSCORE', keys.due, job)
if not expires or tonumber(expires) > now then return { 'OK', '0', '', '0' } end
redis.call('ZREM', keys.due, job)
if t then
  unlist_transfer(keys, t)
  if was_live then
    t.state, t.error = 'FAILED', '{"code":"expired","detail":null,"by_device_id":null}'
    local data = '{"transfer":' .. event_json(t) .. '}'
    append_and_notify(keys, routes_to_notify(keys.routes, now), now, random, 'transfer:updated', t.sender .. '\t' .. t.receiver, data)
  end
else
  -- No sweep came within an hour after the end of its time, so the record has expired. Only the record says in which
  -- lists the transfer is.
  for _, member in ipairs(redis.call('ZRANGE', keys.offers, 0, -1)) do
    local last = string.sub(member, -#transfer_id - 1)
    if last == ':' .. transfer_id or last == '-' .. transfer_id then redis.call('ZREM', keys.offers, member) end
  end
  for _, member in ipairs(redis.call('ZRANGE', keys.transfers, 0, -1)) do
    if string.sub(member, 1, #transfer_id) == transfer_id then redis.call('ZREM', keys.transfers, member) end
  end
end
return { 'OK', '1', t and relay_words(t) or '', was_live and '1' or '0' }
