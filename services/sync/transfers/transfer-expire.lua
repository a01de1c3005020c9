-- Ends a transfer whose time is over: a live one is announced as failed, then everything of it goes.
-- uses: clock routes log transfers/transfer transfers/transfer-told transfers/transfer-end
-- KEYS[1] routes
-- KEYS[2] log
-- KEYS[3] inbox
-- KEYS[4] record
-- KEYS[5] due
-- KEYS[6] transfers of the account
-- KEYS[7] list of files
-- ARGV[1] transfer id
-- ARGV[2] 32 random bits
-- RETURNS OK, expired ('1' | '0'), words on the relay
local keys = { routes = KEYS[1], log = KEYS[2], inbox = KEYS[3], record = KEYS[4], due = KEYS[5], transfers = KEYS[6], files = KEYS[7] }
local now, t = now_ms(), read_transfer(KEYS[4])
local fact = 'transfer:' .. ARGV[1]
local expires = redis.call('ZSCORE', KEYS[5], fact)
if not expires or tonumber(expires) > now then return answer({ 'OK', '0', '' }) end
redis.call('ZREM', KEYS[5], fact)
if t then
  unlist_transfer(keys, t)
  if not is_over(t) then
    t.state, t.error = 'FAILED', '{"code":"expired","detail":null}'
    local data = '{"transfer":' .. event_json(t) .. '}'
    append_and_ring(keys, read_routes(keys.routes, now), now, ARGV[2], 'transfer:updated', t.sender .. '\t' .. t.receiver, data)
  end
else
  -- Nobody came by for an hour after its time, and the record, which knows where it is listed, has expired.
  for _, member in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    local last = string.sub(member, -#ARGV[1] - 1)
    if last == ':' .. ARGV[1] or last == '-' .. ARGV[1] then redis.call('ZREM', KEYS[3], member) end
  end
  for _, member in ipairs(redis.call('ZRANGE', keys.transfers, 0, -1)) do
    if string.sub(member, 1, #ARGV[1]) == ARGV[1] then redis.call('ZREM', keys.transfers, member) end
  end
end
return answer({ 'OK', '1', t and relay_words(t) or '' })
