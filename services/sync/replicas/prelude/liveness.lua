-- Which routes of an account lead to streams that are there, as the replica knows it that runs the script.

local function lines_of(text)
  local lines = {}
  if text == '' then return lines end
  for line in string.gmatch(text, '[^\n]+') do lines[line] = true end
  return lines
end

-- `late_ms`, and sets: `dead` and `former` channels, `held` ids of streams, `silent` channels (nil: that was not asked).
local function liveness_of(text)
  local late_ms, dead, former, held, silent = string.match(text, '^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$')
  return {
    late_ms = tonumber(late_ms), dead = lines_of(dead), former = lines_of(former), held = lines_of(held),
    silent = silent ~= '-' and lines_of(silent) or nil,
  }
end
