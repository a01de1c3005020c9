-- Exchanges the secret of a session for its next one. Next secrets follow from the one that is shown: whoever shows
-- the same old secret (several tabs, a repeated request) gets the same new one, as long as it is the present one.
-- uses: clock sessions/session sessions/secrets
-- KEYS[1] session
-- KEYS[2] index
-- KEYS[3] metas
-- KEYS[4] user
-- ARGV[1] id
-- ARGV[2] app that asks
-- ARGV[3] digest of the secret that is shown
-- ARGV[4] grace in ms
-- ARGV[5] digest of a random secret
-- ARGV[6..] digests of the secrets that follow from the shown one, nearest first
-- RETURNS OK, now, session.., user.., which argument is the present secret now | a word of refusal
local s, now = read_session(KEYS[1]), now_ms()
if s and s.app ~= ARGV[2] then s = nil end
local refused = refusal(s, now)
if refused then return { refused } end
local place = show(KEYS[1], s, ARGV[3], now, tonumber(ARGV[4]))
if place ~= 'current' and place ~= 'retired' then return { place } end

local chosen
for i = 5, #ARGV do if ARGV[i] == s.secret then chosen = i end end
if not chosen then
  -- Another mint came between, or the present secret is too far from the shown one to be found again.
  chosen = (place == 'current' and not was_secret(s, ARGV[6])) and 6 or 5
  renew_secret(KEYS[1], s, ARGV[chosen])
end
if s.persist == 'persist' and s.sliding == '1' then s.ends = int(now + tonumber(s.ttl)) end
s.active = int(now)
keep({ session = KEYS[1], index = KEYS[2], metas = KEYS[3], user = KEYS[4] }, ARGV[1], s)
local reply = told(now, ARGV[1], s, KEYS[4])
reply[#reply + 1] = tostring(chosen)
return reply
