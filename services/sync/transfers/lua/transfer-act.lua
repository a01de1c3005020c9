-- The state machine of a transfer: compare-and-set in one step, with an event to both parties. A transition that
-- already happened returns the same answer and changes nothing, so that a repeated request is harmless.
--
--   PENDING ---accept---> ACCEPTED ---p2p---> P2P_ACTIVE ---complete---> DONE
--      |  |                  |                  |    ^
--      |  +--p2p--> (P2P)    +--relay--+      relay  p2p     any but the last column --fail----> FAILED
--      |                               v        v    |       any but the last column --cancel--> CANCELLED
--      +--relay, then accept------> RELAY_ACTIVE ----+       PENDING --reject--> CANCELLED
--                                       +---complete---> DONE
--
-- Keys and arguments: transferAct in scripts.ts.
-- uses: clock routes log operation transfers/transfer transfers/transfer-view transfers/offers transfers/transfer-end
-- RETURNS OK, transfer as JSON without its end, files ('': a long list), state in the relay (of all files if it has
--         ended), '' or the state that refuses, whether the state changed ('1' | '0')
--         | not_found | not_a_party | store_unavailable
local now, t = now_ms(), read_transfer(keys.record)
if not t then return { 'not_found' } end
local by_sender, by_receiver = device == t.sender, device == t.receiver
local allowed = { accept = by_receiver, reject = by_receiver, complete = by_receiver, relay = by_sender }
if device == '' then allowed = { cancel = true } elseif allowed[action] == nil then allowed[action] = by_sender or by_receiver end
if not allowed[action] then return { 'not_a_party' } end

local state = t.state
local pending, final = state == 'PENDING', is_over(t)
local active = state == 'P2P_ACTIVE' or state == 'RELAY_ACTIVE'
-- The state to which each action leads from here; nil when the present state does not allow it.
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
  reject = state == 'CANCELLED' and string.find(t.error, '"code":"rejected"', 1, true) ~= nil,
  p2p = state == 'P2P_ACTIVE',
  relay = state == 'RELAY_ACTIVE' or (pending and t.relay == '1'),
  complete = state == 'DONE',
  fail = state == 'FAILED',
  cancel = state == 'CANCELLED' or (final and device == ''),
}
local function outcome(is_new)
  local files, words = brief_parts(t)
  return { 'OK', open_json(t), files, is_over(t) and relay_words(t) or words, '', is_new and '1' or '0' }
end
-- A call that was sent again took effect the first time, even if the other side has ended the transfer since.
local before, unknown = logged_before(keys.log, now, random, 'transfer:updated', resent_after_ms)
if unknown then return { unknown } end
if before or happened[action] then return outcome(false) end
if not target[action] then return { 'OK', '', '', '', state, '0' } end

t.state = target[action]
if action == 'p2p' then t.mode = 'p2p' end
if action == 'relay' then t.mode, t.relay = 'relay', '1' end
if t.state ~= 'PENDING' and t.state ~= 'FAILED' and t.state ~= 'CANCELLED' then t.accepted = '1' end
if phase ~= '' then t.phase = phase end
if error ~= 'null' then t.error = error end
save_transfer(keys, t, now)
if t.state ~= 'PENDING' then redis.call('ZREM', keys.offers, pending_offer(t.receiver, t.log, t.id)) end
if is_over(t) then settle_transfer(keys, t, now) end
local data = '{"transfer":' .. event_json(t) .. '}'
append_and_notify(keys, routes_to_notify(keys.routes, now), now, random, 'transfer:updated', t.sender .. '\t' .. t.receiver, data)
return outcome(t.state ~= state)
