-- Finds a session by one of its secrets, or by only its id if an access token has proved the rest.
-- Keys and arguments: sessionUse in scripts.ts.
-- uses: clock space sessions/session sessions/secrets
-- RETURNS OK, now, session.., user.. | a word of refusal
local s, now = read_session(keys.session), now_ms()
if s and s.app ~= app then s = nil end
local refused = refusal(s, now)
if refused then return { refused } end
if digest ~= '' then
  local place = show(keys.session, s, digest, now, GRACE_MS)
  if place ~= 'current' and place ~= 'retired' then return { place } end
end
-- Users see the last use as "minutes ago", so a write for every request would be useless. The first use is written,
-- because it shows that the session has reached its device.
if s.active == s.created or now - tonumber(s.active) >= 60000 then
  s.active = int(now)
  where_there_is_space(redis.call, 'HSET', keys.session, 'active', s.active)
end
return reply_of(now, id, s, keys.user)
