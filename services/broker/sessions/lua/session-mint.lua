-- Mints the session of a meta: a new one, or the present one rotated in place. A rotation ends all earlier secrets at once,
-- because somebody else may hold them. A change of the scope also ends its access tokens, by their epoch. A repeated
-- idempotency key gets its first result while that is still the present state. There is at most one live session per
-- account, app and meta: the caller looks up the session of the meta, because its key is named in the call, and this
-- script compares it again.
-- Keys and arguments: sessionMint in scripts.ts.
-- uses: clock space sessions/session sessions/secrets
-- RETURNS OK, now, session.., user.., '1' created | '0', key of the secret | OK, moved, id | already_decided |
-- idempotency_key_reused
local id, now = known, now_ms()
local present = redis.call('HGET', keys.metas, meta) or ''
if present ~= known then return { 'OK', 'moved', present } end
local s = known ~= '' and read_session(keys.session) or nil
local live = s ~= nil and refusal(s, now) == nil

local function answer(created, derived_from)
  local reply = reply_of(now, id, s, keys.user)
  table.insert(reply, 2, 'minted')
  reply[#reply + 1], reply[#reply + 2] = created, derived_from
  return reply
end

-- The values that a repetition of this key must bring again. Label and lifetime may differ in a repetition, but not what is granted.
local decision = table.concat({ meta, scope, persist }, ' ')
local first = redis.call('HMGET', keys.mint, 'decision', 'id', 'digest', 'key', 'created')
if first[1] then
  if first[1] ~= decision then return { 'idempotency_key_reused' } end
  if not live or first[2] ~= known or s.secret ~= first[3] then return { 'already_decided' } end
  return answer(first[5], first[4])
end
-- The idempotency key is used again after it has expired. Its secret was issued once, and must not become valid again.
if live and was_secret(s, digest) then return { 'already_decided' } end

trim(keys.index, keys.metas, now)
local key, created = keys.session, '0'
if not live then
  if known ~= '' then redis.call('ZREM', keys.index, known .. ' ' .. meta) end
  id, key, created = new_id, keys.new_session, '1'
  s = { app = app, subject = subject, meta = meta, created = int(now), epoch = '0' }
  redis.call('HSET', key, 'app', s.app, 'subject', s.subject, 'meta', meta, 'created', s.created, 'secret', digest)
  redis.call('HSET', keys.metas, meta, id)
else
  replace_secrets(key, s, digest)
  if s.scope ~= scope then s.epoch = int((s.epoch or 0) + 1) end
end
s.label, s.scope, s.persist = label, scope, persist
s.active, s.ends = int(now), int(now + tonumber(ttl_ms))
redis.call('HSET', key, 'label', s.label, 'scope', s.scope, 'persist', s.persist, 'sliding', sliding, 'ttl', ttl_ms,
  'epoch', s.epoch or '0')
keep({ session = key, index = keys.index, metas = keys.metas, user = keys.user }, id, s)
redis.call('HSET', keys.mint, 'decision', decision, 'id', id, 'digest', digest, 'key', key_id, 'created', created)
redis.call('EXPIRE', keys.mint, REPLAY_SECONDS)
return answer(created, key_id)
