-- The state machine of a transfer: compare-and-set, one step, told to both parties. A transition that already happened
-- answers again and changes nothing, so that a repeated request is harmless.
--
--   PENDING ---accept---> ACCEPTED ---p2p---> P2P_ACTIVE ---complete---> DONE
--      |  |                  |                  |    ^
--      |  +--p2p--> (P2P)    +--relay--+      relay  p2p     any but the last column --fail----> FAILED
--      |                               v        v    |       any but the last column --cancel--> CANCELLED
--      +--relay, then accept------> RELAY_ACTIVE ----+       PENDING --reject--> CANCELLED
--                                       +---complete---> DONE
--
-- uses: clock routes log transfers/transfer transfers/transfer-told transfers/transfer-end
-- KEYS[1] routes
-- KEYS[2] log
-- KEYS[3] inbox
-- KEYS[4] record
-- KEYS[5] due
-- KEYS[6] transfers of the account
-- KEYS[7] list of files
-- ARGV[1] device that acts; '' to cancel for the account, whatever the state
-- ARGV[2] accept | reject | p2p | relay | complete | fail | cancel
-- ARGV[3] phase, '' to leave it
-- ARGV[4] error as JSON, 'null' to leave it
-- ARGV[5] 32 random bits
-- RETURNS OK, transfer as JSON without its end, files ('': a long list), words on the relay (of an ended one all), '' or
--         the state that refuses
--         | not_found | not_a_party
local keys = { routes = KEYS[1], log = KEYS[2], inbox = KEYS[3], record = KEYS[4], due = KEYS[5], transfers = KEYS[6], files = KEYS[7] }
local now, t, device, action = now_ms(), read_transfer(KEYS[4]), ARGV[1], ARGV[2]
if not t then return answer({ 'not_found' }) end
local by_sender, by_receiver = device == t.sender, device == t.receiver
local allowed = { accept = by_receiver, reject = by_receiver, complete = by_receiver, relay = by_sender }
if device == '' then allowed = { cancel = true } elseif allowed[action] == nil then allowed[action] = by_sender or by_receiver end
if not allowed[action] then return answer({ 'not_a_party' }) end

local state = t.state
local pending, final = state == 'PENDING', is_over(t)
local active = state == 'P2P_ACTIVE' or state == 'RELAY_ACTIVE'
-- The state that the action leads to from here; nil when the state does not allow it.
local target = {
  accept = pending and (t.relay == '1' and 'RELAY_ACTIVE' or 'ACCEPTED') or nil,
  reject = pending and 'CANCELLED' or nil,
  p2p = not final and 'P2P_ACTIVE' or nil,
  relay = not final and (pending and 'PENDING' or 'RELAY_ACTIVE') or nil,
  complete = active and 'DONE' or nil,
  fail = not final and 'FAILED' or nil,
  cancel = not final and 'CANCELLED' or nil,
}
local happened = {
  accept = t.accepted == '1' and state ~= 'FAILED' and state ~= 'CANCELLED',
  reject = string.find(t.error, '"code":"rejected"', 1, true) ~= nil,
  p2p = state == 'P2P_ACTIVE',
  relay = state == 'RELAY_ACTIVE' or (pending and t.relay == '1'),
  complete = state == 'DONE',
  fail = state == 'FAILED',
  cancel = state == 'CANCELLED' or (final and device == ''),
}
local function told()
  local files, words = brief_parts(t)
  return answer({ 'OK', open_json(t), files, is_over(t) and relay_words(t) or words, '' })
end
if happened[action] then return told() end
if not target[action] then return answer({ 'OK', '', '', '', state }) end

t.state = target[action]
if action == 'p2p' then t.mode = 'p2p' end
if action == 'relay' then t.mode, t.relay = 'relay', '1' end
if t.state ~= 'PENDING' and t.state ~= 'FAILED' and t.state ~= 'CANCELLED' then t.accepted = '1' end
if ARGV[3] ~= '' then t.phase = ARGV[3] end
if ARGV[4] ~= 'null' then t.error = ARGV[4] end
save_transfer(keys, t, now)
if t.state ~= 'PENDING' then redis.call('ZREM', KEYS[3], t.receiver .. '+' .. t.log .. ':' .. t.id) end
if is_over(t) then settle_transfer(keys, t, now) end
local data = '{"transfer":' .. event_json(t) .. '}'
append_and_ring(keys, read_routes(keys.routes, now), now, ARGV[5], 'transfer:updated', t.sender .. '\t' .. t.receiver, data)
return told()
