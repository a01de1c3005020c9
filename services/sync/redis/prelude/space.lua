-- Runs work that the answer does not depend on. A store without space refuses its first write, and the script goes on
-- without it.
local function where_there_is_space(act, ...)
  local done, failure = pcall(act, ...)
  if done then return end
  local text = type(failure) == 'table' and failure.err or tostring(failure)
  if not string.find(text, '^OOM ') and not string.find(text, '^MISCONF ') then error(failure) end
end
