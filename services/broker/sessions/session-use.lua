-- Whose session this is: by a secret of it, or by its id alone when an access token has proved the rest.
-- uses: clock sessions/session sessions/secrets
-- KEYS[1] session
-- KEYS[2] user
-- ARGV[1] id
-- ARGV[2] app that asks
-- ARGV[3] digest of the secret that is shown, '' with an access token
-- ARGV[4] grace in ms
-- RETURNS OK, now, session.., user.. | a word of refusal
local s, now = read_session(KEYS[1]), now_ms()
if s and s.app ~= ARGV[2] then s = nil end
local refused = refusal(s, now)
if refused then return { refused } end
if ARGV[3] ~= '' then
  local place = show(KEYS[1], s, ARGV[3], now, tonumber(ARGV[4]))
  if place ~= 'current' and place ~= 'retired' then return { place } end
end
-- People read it as "minutes ago": a write for every request would be for nobody. The first use tells that a session
-- reached who it was for.
if s.active == s.created or now - tonumber(s.active) >= 60000 then
  s.active = int(now)
  redis.call('HSET', KEYS[1], 'active', s.active)
end
return told(now, ARGV[1], s, KEYS[2])
