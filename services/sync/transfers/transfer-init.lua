-- Offers files to a device: record, lists, announcement, expiry: one step.
-- Twelve keys: it is the one script that begins a transfer, and a refused one leaves nothing behind.
-- uses: clock routes log operation rate transfers/transfer transfers/transfer-told transfers/quota push/push push/owing
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] inbox
-- KEYS[5] record
-- KEYS[6] due
-- KEYS[7] operation
-- KEYS[8] rate
-- KEYS[9] push
-- KEYS[10] transfers of the account
-- KEYS[11] list of files
-- KEYS[12] rate of the account
-- ARGV[1] device of the sender
-- ARGV[2] target: `=<device id>` or `~<name>`
-- ARGV[3] transfer id
-- ARGV[4] files as a JSON array: all when there are up to 16, else those that are kept after the end
-- ARGV[5] number of files
-- ARGV[6] bytes of all
-- ARGV[7] sealed as JSON
-- ARGV[8] 32 random bits
-- ARGV[9] fingerprint of the request
-- ARGV[10] seconds to remember the operation
-- ARGV[11] rate limit of 60 s, 0: off
-- ARGV[12] live transfers per account
-- ARGV[13] pushes: noted (in the index of due things) | ask | off
-- ARGV[14] channels of dead replicas, joined by line ends
-- ARGV[15] ms after which an offer is pushed although a stream seemed live, whose replica turns out to be dead
-- ARGV[16] ms that rows may be older than usual
-- ARGV[17] the long list with its ends, '' for a short one
-- ARGV[18] files that are kept after the end in place of ARGV[4], '' when it is kept
-- ARGV[19] bytes that it counts
-- ARGV[20] scope of the sender
-- ARGV[21] live transfers that guests may have
-- ARGV[22] bytes of live transfers; guests may have half
-- ARGV[23] records of an account, ended ones included
-- RETURNS OK, transfer as JSON without its end, receiver, open routes, facts to be run at once;
--         OK, '', ids: nothing was done, these have to be evicted first;
--         OK, '': nothing was done, the account has subscriptions and has to be noted first
--         | device_required | not_found | invalid_request (to oneself) | transfer_limit | rate_limited, limit, ms
local keys = { routes = KEYS[2], log = KEYS[3], inbox = KEYS[4], record = KEYS[5], due = KEYS[6], push = KEYS[9] }
keys.transfers, keys.files = KEYS[10], KEYS[11]
local now = now_ms()
local rows = read_routes(keys.routes, now, tonumber(ARGV[16]))
local first, refusal = recall(KEYS[7], ARGV[9])
if refusal then return answer({ refusal }) end
if first then
  -- It is remembered without what the same request brings again.
  local at = string.find(first[2], ',"sealed":null', 1, true)
  if at then first[2] = string.sub(first[2], 1, at + 9) .. ARGV[7] .. string.sub(first[2], at + 14) end
  first[4], first[5] = open_routes(rows), {}
  return answer(first)
end
if ARGV[13] == 'ask' and redis.call('EXISTS', keys.push) == 1 then return answer({ 'OK', '' }) end
local surplus = surplus_transfers(keys, tonumber(ARGV[23]))
if surplus then return answer({ 'OK', '', surplus }) end
local sender, flat, from, to, to_name = ARGV[1], redis.call('HGETALL', KEYS[1]), nil, nil, nil
for i = 1, #flat, 2 do
  local id, name = flat[i], string.match(flat[i + 1], '^[^\n]*')
  if id == sender then from = name end
  if ARGV[2] == '=' .. id or ARGV[2] == '~' .. name then to, to_name = id, name end
end
if not from then return answer({ 'device_required' }) end
local over = over_rates(KEYS[8], KEYS[12], tonumber(ARGV[11]), 60)
if over then return answer(over) end
if not to then return answer({ 'not_found' }) end
if to == sender then return answer({ 'invalid_request' }) end
local live = live_share(keys, now)
local over_all = live.all[1] >= tonumber(ARGV[12]) or live.all[2] + ARGV[19] > tonumber(ARGV[22])
local over_guests = live.guest[1] >= tonumber(ARGV[21]) or live.guest[2] + ARGV[19] > ARGV[22] / 2
if over_all or (ARGV[20] == 'guest' and over_guests) then return answer({ 'transfer_limit' }) end
if redis.call('ZCARD', keys.transfers) >= tonumber(ARGV[23]) then return answer({ 'transfer_limit' }) end

local t = {
  id = ARGV[3], state = 'PENDING', mode = 'p2p', phase = 'initializing', sender = sender, sender_name = from,
  receiver = to, receiver_name = to_name, files = ARGV[4], count = ARGV[5], bytes = ARGV[6], sealed = ARGV[7],
  sent = '0', received = '0', error = 'null', created = int(now), relay = '0', accepted = '0', forwarded = '0', dirty = '0',
  slot = ARGV[3] .. ':' .. ARGV[19] .. ':' .. ARGV[20],
}
if ARGV[17] ~= '' then redis.call('SET', keys.files, ARGV[17]) end
if ARGV[18] ~= '' then redis.call('HSET', keys.record, 'brief', ARGV[18]) end
redis.call('HSET', keys.record, 'slot', t.slot, 'id', t.id, 'sender', t.sender, 'sender_name', from, 'receiver', to, 'receiver_name', to_name,
  'files', t.files, 'count', t.count, 'bytes', t.bytes, 'sealed', t.sealed, 'created', t.created)
save_transfer(keys, t, now)
local data = '{"transfer":' .. event_json(t) .. ',"redelivered":false}'
t.log = append_and_ring(keys, rows, now, ARGV[8], 'transfer:incoming', to, data)
redis.call('HSET', keys.record, 'log', t.log)
redis.call('ZADD', KEYS[4], 0, to .. '+' .. t.log .. ':' .. t.id, 0, '!live:' .. t.id,
  0, sender .. '=' .. t.created .. '-' .. t.id, 0, to .. '=' .. t.created .. '-' .. t.id)
redis.call('ZADD', keys.transfers, 0, t.slot)
for _, key in ipairs({ KEYS[4], keys.transfers }) do redis.call('EXPIRE', key, QUOTA_SECONDS) end
local reply = { 'OK', open_json(t), to }
t.sealed = 'null'
remember(KEYS[7], ARGV[9], ARGV[10], { 'OK', open_json(t), to, '[]' })
reply[4] = open_routes(rows)
if ARGV[13] == 'noted' then
  local dead = {}
  for name in string.gmatch(ARGV[14], '[^\n]+') do dead[name] = true end
  owe_push(keys, now, has_live_stream(rows, dead, to) and ARGV[15] or 0, 'transfer', to, sender, t.id)
end
reply[5] = PUSH_NOW
return answer(reply)
