-- A login request. What is left of an ended one is its state, and the digests that tell who may hear it.
local TOMBSTONE_MS = 600000
local KEPT = { state = true, poll = true, code = true, expires = true, decision = true, wrong = true, fence = true }

local function read_login(key)
  local flat = redis.call('HGETALL', key)
  if #flat == 0 then return nil end
  local login = {}
  for i = 1, #flat, 2 do login[flat[i]] = flat[i + 1] end
  return login
end

local function bury(key, state)
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if not KEPT[field] then redis.call('HDEL', key, field) end
  end
  redis.call('HSET', key, 'state', state)
  redis.call('PEXPIRE', key, TOMBSTONE_MS)
end

-- The word that refuses a request which is over; nil while it is pending or approved. Nobody ends one of which a session
-- is just being made.
local function ended(key, login, now)
  local isOpen = login.state == 'pending' or login.state == 'approved' and now >= tonumber(login.lease or '0')
  if isOpen and now >= tonumber(login.expires) then
    bury(key, 'expired')
    return 'login_expired'
  end
  return ({ denied = 'access_denied', consumed = 'login_consumed', expired = 'login_expired' })[login.state]
end

-- Whether this is the code; a wrong one counts, and too many deny a pending request.
local function is_code(key, login, digest, limit)
  if login.code == digest then return true end
  if redis.call('HINCRBY', key, 'wrong', 1) >= limit and login.state == 'pending' then bury(key, 'denied') end
  return false
end
