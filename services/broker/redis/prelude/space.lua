-- Runs a write on which the answer does not depend. If the store has no space, it refuses the write, and the script goes on.
local function where_there_is_space(act, ...)
  local done, failure = pcall(act, ...)
  if done then return end
  local text = type(failure) == 'table' and failure.err or tostring(failure)
  if not string.find(text, '^OOM ') and not string.find(text, '^MISCONF ') then error(failure) end
end
