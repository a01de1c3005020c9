-- Mints the session of a meta: a new one, or the present one rotated in place. An idempotency key that was here
-- before answers its first result while that is still the present state. At most one live session per account, app and
-- meta: the meta is looked up beforehand for its key, and compared again here.
-- uses: clock sessions/session sessions/secrets
-- KEYS[1] session that the meta had when it was looked up; when it had none, as KEYS[2]
-- KEYS[2] session to create
-- KEYS[3] index
-- KEYS[4] metas
-- KEYS[5] mint
-- KEYS[6] user
-- ARGV[1] id of KEYS[1], '' when the meta had none
-- ARGV[2] id of KEYS[2]
-- ARGV[3] app
-- ARGV[4] subject
-- ARGV[5] meta
-- ARGV[6] label
-- ARGV[7] scope
-- ARGV[8] persist
-- ARGV[9] '1': sliding
-- ARGV[10] lifetime in ms
-- ARGV[11] digest of the secret
-- ARGV[12] key from which the secret is derived
-- ARGV[13] seconds to remember the idempotency key
-- RETURNS OK, now, session.., user.., '1' created | '0', key of the secret | OK, moved, id | already_decided |
-- idempotency_key_reused
local known, id, meta, digest, now = ARGV[1], ARGV[1], ARGV[5], ARGV[11], now_ms()
local present = redis.call('HGET', KEYS[4], meta) or ''
if present ~= known then return { 'OK', 'moved', present } end
local s = known ~= '' and read_session(KEYS[1]) or nil
local live = s ~= nil and refusal(s, now) == nil

local function answer(created, derived_from)
  local reply = told(now, id, s, KEYS[6])
  reply[#reply + 1], reply[#reply + 2] = created, derived_from
  return reply
end

-- What this key has decided; label and lifetime may differ in a repetition, what it grants may not.
local decision = table.concat({ meta, ARGV[7], ARGV[8] }, ' ')
local first = redis.call('HMGET', KEYS[5], 'decision', 'id', 'digest', 'key', 'created')
if first[1] then
  if first[1] ~= decision then return { 'idempotency_key_reused' } end
  if not live or first[2] ~= known or s.secret ~= first[3] then return { 'already_decided' } end
  return answer(first[5], first[4])
end
-- The same key after its time: its secret was given out once, and must not come to life again.
if live and was_secret(s, digest) then return { 'already_decided' } end

trim(KEYS[3], KEYS[4], now)
local key, created = KEYS[1], '0'
if not live then
  if known ~= '' then redis.call('ZREM', KEYS[3], known .. ' ' .. meta) end
  id, key, created = ARGV[2], KEYS[2], '1'
  s = { app = ARGV[3], subject = ARGV[4], meta = meta, created = int(now) }
  redis.call('HSET', key, 'app', s.app, 'subject', s.subject, 'meta', meta, 'created', s.created, 'secret', digest)
  redis.call('HSET', KEYS[4], meta, id)
else
  renew_secret(key, s, digest)
end
s.label, s.scope, s.persist = ARGV[6], ARGV[7], ARGV[8]
s.active, s.ends = int(now), int(now + tonumber(ARGV[10]))
redis.call('HSET', key, 'label', s.label, 'scope', s.scope, 'persist', s.persist, 'sliding', ARGV[9], 'ttl', ARGV[10])
keep({ session = key, index = KEYS[3], metas = KEYS[4], user = KEYS[6] }, id, s)
redis.call('HSET', KEYS[5], 'decision', decision, 'id', id, 'digest', digest, 'key', ARGV[12], 'created', created)
redis.call('EXPIRE', KEYS[5], ARGV[13])
return answer(created, ARGV[12])
