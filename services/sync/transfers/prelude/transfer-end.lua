-- The end of a transfer, and of its record. (Comes after `transfer` and `offers`.)

-- Settles a transfer that has ended: removes long parts of its record, and counts it as ended.
local function settle_transfer(keys, t, now)
  local stale, begun = { 'slot', 'brief' }, relay_words(t)
  for field in pairs(t) do
    if string.match(field, '^[raw]%d+$') then stale[#stale + 1] = field end
  end
  for i = 1, #stale, 1000 do redis.call('HDEL', keys.record, unpack(stale, i, math.min(#stale, i + 999))) end
  if t.brief then t.files = t.brief end
  if #t.sealed > LIMITS.endedListBytes then t.sealed = 'null' end
  -- A record of an earlier version has its long list in it. A list that no event carried is not kept.
  if tonumber(t.count) > LIMITS.filesInEvents and not t.slot then t.files = '[]' end
  -- The caller drops these files from the relay. A very long `begun` is not kept: the rest in the relay expires by
  -- itself. `t` still has the files one by one, for the answer.
  if #begun > LIMITS.endedListBytes then begun = t.relay end
  redis.call('HSET', keys.record, 'begun', begun, 'files', t.files, 'sealed', t.sealed)
  redis.call('DEL', keys.files, keys.sealed)
  if t.slot then redis.call('ZREM', keys.transfers, t.slot) end
  redis.call('ZADD', keys.transfers, now, t.id)
end

-- Removes all entries that lead to a transfer, and last the record, which says where it is listed.
local function unlist_transfer(keys, t)
  redis.call('ZREM', keys.due, 'transfer:' .. t.id)
  redis.call('ZREM', keys.transfers, t.id, t.slot or t.id)
  redis.call('ZREM', keys.offers, pending_offer(t.receiver, t.log, t.id), listed_transfer(t.sender, t.created, t.id),
    listed_transfer(t.receiver, t.created, t.id))
  redis.call('DEL', keys.files, keys.sealed, keys.record)
end
