-- Handles the secrets of a session, as SHA-256 digests. `secret` is the present one. `retired` holds earlier ones, oldest
-- first, as `<digest>:<until>`. `until` is empty while no newer one was used, and 0 if a mint ended the secret at once.
-- `unused` is 1 until the present one is used. (After `space`: a full store does not record the use of a secret, and
-- accepts both the present and the earlier secret.)
local ENDED = '0'

-- The number of retired secrets that are kept. Older ones are unknown, so their reuse is not recognised.
local RETIRED_KEPT = 32

local function retired_of(s)
  local list = {}
  for digest, untill in string.gmatch(s.retired or '', '(%S+):(%d*)') do list[#list + 1] = { digest, untill } end
  return list
end

local function write_retired(key, s, list)
  local parts = {}
  for i = math.max(1, #list - RETIRED_KEPT + 1), #list do parts[#parts + 1] = list[i][1] .. ':' .. list[i][2] end
  s.retired = table.concat(parts, ' ')
  redis.call('HSET', key, 'retired', s.retired)
end

-- Handles a secret that is shown for a live session. Returns 'current' or 'retired' if it may be used, else the error code.
-- The first use of a secret starts the grace of earlier ones. The use of a secret after its grace ends the session.
local function show(key, s, digest, now, grace_ms)
  if digest == s.secret and s.unused ~= '1' then return 'current' end
  local list, place = retired_of(s), nil
  if digest == s.secret then place = #list + 1 end
  for i, entry in ipairs(list) do if entry[1] == digest then place = i end end
  if not place then return 'session_expired' end
  local entry = list[place]
  -- The holder of this secret may not be the one that minted, and must not be able to end the session by using it.
  if entry and entry[2] == ENDED then return 'session_expired' end
  if entry and entry[2] ~= '' and tonumber(entry[2]) <= now then
    revoke(key, s, 'reuse_detected', now)
    return 'reuse_detected'
  end
  for i = 1, place - 1 do if list[i][2] == '' then list[i][2] = int(now + grace_ms) end end
  if place > 1 then where_there_is_space(write_retired, key, s, list) end
  if entry then return 'retired' end
  s.unused = '0'
  where_there_is_space(redis.call, 'HSET', key, 'unused', '0')
  return 'current'
end

local function was_secret(s, digest)
  return s.secret == digest or string.find(' ' .. (s.retired or ''), ' ' .. digest .. ':', 1, true) ~= nil
end

local function put_secret(key, s, digest, list)
  write_retired(key, s, list)
  s.secret, s.unused = digest, '1'
  redis.call('HSET', key, 'secret', digest, 'unused', '1')
end

-- Makes a new secret the present one. The earlier one works until the new one was used and the grace is over.
local function renew_secret(key, s, digest)
  local list = retired_of(s)
  list[#list + 1] = { s.secret, '' }
  put_secret(key, s, digest, list)
end

-- Replaces all earlier secrets by a new one, and ends them now. They stay known, so that none becomes valid again.
local function replace_secrets(key, s, digest)
  local list = retired_of(s)
  list[#list + 1] = { s.secret }
  for _, entry in ipairs(list) do entry[2] = ENDED end
  put_secret(key, s, digest, list)
end
