-- Cancels all announced deletions, because a member of the ring in force objects.
-- Keys and arguments: keyringKeep in scripts.ts.
-- uses: clock routes log keys/ring
-- RETURNS OK, kept | OK, moved, n in force
local now = now_ms()
local top, is_checked = ring_in_force(keys, hash)
if not is_checked then return { 'OK', 'moved', int(top) } end
if cancel_deletions(keys) then announce_keys(keys, now, random, top) end
return { 'OK', 'kept' }
