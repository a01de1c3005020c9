-- Exchanges the secret of a session for its next one. The next secrets are derived from the shown one, so callers with the
-- same old secret (several tabs, a repeated request) get the same new one, as long as it is the present one.
-- Keys and arguments: sessionRotate in scripts.ts.
-- uses: clock space sessions/session sessions/secrets
-- RETURNS OK, now, session.., user.., number of the argument that is the present secret now | a word of refusal
local s, now = read_session(keys.session), now_ms()
if s and s.app ~= app then s = nil end
local refused = refusal(s, now)
if refused then return { refused } end
local place = show(keys.session, s, digest, now, GRACE_MS)
if place ~= 'current' and place ~= 'retired' then return { place } end

local chosen
for i, candidate in ipairs(candidates) do if candidate == s.secret then chosen = i end end
if not chosen then
  -- The shown secret is the present one, or so old that no candidate is the present one.
  chosen = (place == 'current' and not was_secret(s, candidates[2])) and 2 or 1
  renew_secret(keys.session, s, candidates[chosen])
end
if s.persist == 'persist' and s.sliding == '1' then s.ends = int(now + tonumber(s.ttl)) end
s.active = int(now)
keep(keys, id, s)
local reply = reply_of(now, id, s, keys.user)
reply[#reply + 1] = tostring(chosen)
return reply
