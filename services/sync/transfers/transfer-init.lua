-- Offers files to a device: record, lists, announcement, expiry: one step.
-- uses: clock routes log operation rate transfer push owing
-- KEYS[1] devices
-- KEYS[2] routes
-- KEYS[3] log
-- KEYS[4] inbox
-- KEYS[5] record
-- KEYS[6] due
-- KEYS[7] operation
-- KEYS[8] rate
-- KEYS[9] push
-- ARGV[1] device of the sender
-- ARGV[2] target: `=<device id>` or `~<name>`
-- ARGV[3] transfer id
-- ARGV[4] files as a JSON array
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
-- RETURNS OK, transfer as JSON without its end, receiver, open routes as JSON, facts to be run at once;
--         OK, '': nothing was done, the account has subscriptions and has to be noted first
--         | device_required | not_found | invalid_request (to oneself) | transfer_limit | rate_limited, limit, ms
local keys = { routes = KEYS[2], log = KEYS[3], record = KEYS[5], due = KEYS[6], push = KEYS[9] }
local now = now_ms()
local first, refusal = recall(KEYS[7], ARGV[9])
if refusal then return answer({ refusal }) end
if first then
  first[5] = {}
  return answer(first)
end
if ARGV[13] == 'ask' and redis.call('EXISTS', keys.push) == 1 then return answer({ 'OK', '' }) end
local sender, flat, from, to, to_name = ARGV[1], redis.call('HGETALL', KEYS[1]), nil, nil, nil
for i = 1, #flat, 2 do
  local id, name = flat[i], string.match(flat[i + 1], '^[^\n]*')
  if id == sender then from = name end
  if ARGV[2] == '=' .. id or ARGV[2] == '~' .. name then to, to_name = id, name end
end
if not from then return answer({ 'device_required' }) end
local over = over_rate(KEYS[8], tonumber(ARGV[11]), 60)
if over then return answer(over) end
if not to then return answer({ 'not_found' }) end
if to == sender then return answer({ 'invalid_request' }) end
if redis.call('ZLEXCOUNT', KEYS[4], '[!live:', '(!live;') >= tonumber(ARGV[12]) then return answer({ 'transfer_limit' }) end

local rows = read_routes(keys.routes, now, tonumber(ARGV[16]))
local t = {
  id = ARGV[3], state = 'PENDING', mode = 'p2p', phase = 'initializing', sender = sender, sender_name = from,
  receiver = to, receiver_name = to_name, files = ARGV[4], count = ARGV[5], bytes = ARGV[6], sealed = ARGV[7],
  sent = '0', received = '0', error = 'null', created = int(now), relay = '0', accepted = '0', forwarded = '0', dirty = '0',
}
redis.call('HSET', keys.record, 'id', t.id, 'sender', t.sender, 'sender_name', from, 'receiver', to, 'receiver_name', to_name,
  'files', t.files, 'count', t.count, 'bytes', t.bytes, 'sealed', t.sealed, 'created', t.created)
save_transfer(keys, t, now)
local data = '{"transfer":' .. event_json(t) .. ',"redelivered":false}'
t.log = append_and_ring(keys, rows, now, ARGV[8], 'transfer:incoming', to, data)
redis.call('HSET', keys.record, 'log', t.log)
redis.call('ZADD', KEYS[4], 0, to .. '+' .. t.log .. ':' .. t.id, 0, '!live:' .. t.id,
  0, sender .. '=' .. t.created .. '-' .. t.id, 0, to .. '=' .. t.created .. '-' .. t.id)
redis.call('EXPIRE', KEYS[4], 604800)
local reply = { 'OK', open_json(t), to, cjson.encode(open_routes(rows)) }
remember(KEYS[7], ARGV[9], ARGV[10], reply)
if ARGV[13] == 'noted' then
  owe_push(keys, now, has_live_stream(rows, ARGV[14], to) and ARGV[15] or 0, 'transfer', to, sender, t.id)
end
reply[5] = PUSH_NOW
return answer(reply)
