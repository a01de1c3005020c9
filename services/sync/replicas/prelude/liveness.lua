-- Which routes of an account lead to existing streams, as the replica that runs the script knows it.

local function lines_of(text)
  local lines = {}
  if text == '' then return lines end
  for line in string.gmatch(text, '[^\n]+') do lines[line] = true end
  return lines
end

-- Returns `late_ms`, and sets: `dead` and `former` channels, `held` ids of streams, `silent` channels (nil when not
-- checked).
local function liveness_of(text)
  local late_ms, dead, former, held, silent = string.match(text, '^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$')
  return {
    late_ms = tonumber(late_ms), dead = lines_of(dead), former = lines_of(former), held = lines_of(held),
    silent = silent ~= '-' and lines_of(silent) or nil,
  }
end
