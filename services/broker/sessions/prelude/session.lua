-- Reads and writes a session, which is a hash. It holds only SHA-256 digests of the secrets (see secrets.lua). `epoch` rises
-- with each change of the scope. Sessions of older brokers have none, which counts as 0.
local FIELDS = { 'app', 'subject', 'meta', 'label', 'scope', 'persist', 'created', 'active', 'ends', 'sliding', 'ttl',
  'secret', 'retired', 'unused', 'revoked', 'epoch' }
-- How long an ended session is kept, so that revoking it again succeeds.
local KEEP_MS = 86400000

local function read_session(key)
  local values, s = redis.call('HMGET', key, unpack(FIELDS)), {}
  for i, field in ipairs(FIELDS) do s[field] = values[i] or nil end
  return s.app and s or nil
end

-- Returns the error code of a session that cannot be used; nil if it is live.
local function refusal(s, now)
  if not s then return 'session_expired' end
  if s.revoked then return s.revoked == 'reuse_detected' and 'reuse_detected' or 'session_revoked' end
  if tonumber(s.ends) <= now then return 'session_expired' end
end

local function revoke(key, s, reason, now)
  s.revoked = reason
  -- This must come first: at `maxmemory` Redis lets a script go on only if its first write removes something.
  redis.call('HDEL', key, 'secret', 'retired', 'unused')
  redis.call('HSET', key, 'revoked', reason)
  redis.call('PEXPIREAT', key, int(now + KEEP_MS))
end

-- Extends the lifetime of a session and of what belongs to it. `k`: session, index, metas, user.
local function keep(k, id, s)
  local untill = tonumber(s.ends) + KEEP_MS
  redis.call('HSET', k.session, 'ends', s.ends, 'active', s.active)
  redis.call('ZADD', k.index, s.ends, id .. ' ' .. s.meta)
  redis.call('PEXPIREAT', k.session, int(untill))
  for _, key in ipairs({ k.index, k.metas, k.user }) do
    if redis.call('PEXPIRETIME', key) < untill then redis.call('PEXPIREAT', key, int(untill)) end
  end
end

-- Removes up to 20 ended sessions of the account from the index. Called with every mint and every login.
local function trim(index_key, metas_key, now)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', index_key, '-inf', int(now), 'LIMIT', 0, 20)) do
    local id, meta = string.match(member, '^(%S+) (.*)$')
    redis.call('ZREM', index_key, member)
    if meta ~= '' and redis.call('HGET', metas_key, meta) == id then redis.call('HDEL', metas_key, meta) end
  end
end

-- Returns the beginning of every reply: now, the session, the user.
local function reply_of(now, id, s, user_key)
  local user = redis.call('HMGET', user_key, 'name', 'roles')
  return { 'OK', int(now), id, s.app, s.subject, s.meta, s.label, s.scope, s.persist, s.created, s.active, s.ends,
    s.epoch or '0', user[1] or '', user[2] or '' }
end
