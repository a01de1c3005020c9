-- Reads and ends login requests. An ended one keeps its state, and the digests that prove who may read it.
local TOMBSTONE_MS = 600000
local KEPT = { state = true, poll = true, code = true, expires = true, decision = true, fence = true }

-- RETURNS the request, nil when there is none; and its fields as field, value, ...
local function read_login(key)
  local flat = redis.call('HGETALL', key)
  if #flat == 0 then return nil end
  local login = {}
  for i = 1, #flat, 2 do login[flat[i]] = flat[i + 1] end
  return login, flat
end

-- Returns whether this account may see the request. A request of a new device is open to everybody who has its code.
local function is_of_account(login, account)
  return not login.owner or login.owner == account
end

local function end_login(key, state)
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if not KEPT[field] then redis.call('HDEL', key, field) end
  end
  redis.call('HSET', key, 'state', state)
  redis.call('PEXPIRE', key, TOMBSTONE_MS)
end

-- Returns the error code of a request that has ended; nil while it is pending or approved. A request does not expire while
-- a session is being made from it.
local function ended(key, login, now)
  local isOpen = login.state == 'pending' or login.state == 'approved' and now >= tonumber(login.lease or '0')
  if isOpen and now >= tonumber(login.expires) then
    end_login(key, 'expired')
    return 'login_expired'
  end
  return ({ denied = 'access_denied', consumed = 'login_consumed', expired = 'login_expired' })[login.state]
end

-- Returns nil for the right code, else the reply that refuses it. Wrong codes are limited for each account and request,
-- until the request ends. They affect no other account, and the request stays as it was. `limit` 0 means no limit. A wrong
-- code is counted under `operation`, so that a script that is sent twice counts once; '' counts nothing.
local function refuse_code(login, now, digest, tries, limit, operation)
  local is_open = (login.state == 'pending' or login.state == 'approved') and now < tonumber(login.expires)
  local is_limited = is_open and limit > 0
  local is_repeated = operation ~= '' and redis.call('SISMEMBER', tries, operation) == 1
  if is_limited and not is_repeated and redis.call('SCARD', tries) >= limit then
    return { 'OK', 'limited', int(login.expires - now), int(login.expires - login.created) }
  end
  if login.code == digest then return nil end
  if is_limited and operation ~= '' then
    redis.call('SADD', tries, operation)
    redis.call('PEXPIREAT', tries, login.expires)
  end
  return { 'not_found' }
end
