-- What one side is doing: kept in the record, and forwarded to both parties at most four times a second, the newest
-- winning, without a place in the log. What came too early is forwarded by a later call without ARGV[2] and ARGV[6]. What
-- the receiver has acknowledged of each file counts together as received, which it never takes back.
-- uses: clock routes transfers/transfer transfers/transfer-told
-- KEYS[1] routes
-- KEYS[2] record
-- KEYS[3] due
-- KEYS[4] list of files
-- ARGV[1] device that tells
-- ARGV[2] phase; '' forwards what is waiting
-- ARGV[3] sent bytes, '' to leave them
-- ARGV[4] received bytes, '' to leave them
-- ARGV[5] ms between two forwards
-- ARGV[6] file of which the receiver has stored some, '' for a phase
-- ARGV[7] how far, '' for a phase
-- RETURNS OK, transfer as JSON without its end, files ('': a long list), words on the relay, '' or the state that refuses,
--         ms to wait before forwarding ('0': done) | not_found | not_a_party
local keys, now, t = { record = KEYS[2], due = KEYS[3], files = KEYS[4] }, now_ms(), read_transfer(KEYS[2])
if not t then return answer({ 'not_found' }) end
if ARGV[1] ~= t.sender and ARGV[1] ~= t.receiver then return answer({ 'not_a_party' }) end
if is_over(t) then return answer({ 'OK', '', '', '', t.state, '0' }) end

if ARGV[2] ~= '' then
  t.phase, t.dirty = ARGV[2], '1'
  if ARGV[3] ~= '' then t.sent = ARGV[3] end
  if ARGV[4] ~= '' then t.received = ARGV[4] end
end
if ARGV[6] ~= '' then
  local field, sum = 'a' .. ARGV[6], 0
  t[field] = int(math.max(tonumber(t[field] or '0'), tonumber(ARGV[7])))
  redis.call('HSET', keys.record, field, t[field])
  for name, value in pairs(t) do
    if string.match(name, '^a%d+$') then sum = sum + tonumber(value) end
  end
  if sum > tonumber(t.received) then t.received, t.dirty = int(sum), '1' end
end
local wait = math.max(0, tonumber(t.forwarded) + tonumber(ARGV[5]) - now)
local forwards = t.dirty == '1' and wait == 0
if forwards then t.forwarded, t.dirty = int(now), '0' end
save_transfer(keys, t, now)
if forwards then
  local to, data = t.sender .. '\t' .. t.receiver, '{"transfer":' .. event_json(t) .. '}'
  local payload = table.concat({ 'u', account_of(KEYS[1]), 'transfer:updated', to, data }, '\n')
  ring_all(read_routes(KEYS[1], now), 'transfer:updated', payload)
end
local files, words = brief_parts(t)
return answer({ 'OK', open_json(t), files, words, '', t.dirty == '1' and int(wait) or '0' })
