-- A fixed window counted inside the script that it limits, which saves the trip of its own. Limit 0: off.
-- RETURNS nil when allowed, else the refusal: code, limit, milliseconds until the window ends.
local function over_rate(key, limit, window_seconds)
  if limit == 0 then return nil end
  local count = redis.call('INCR', key)
  if count == 1 then redis.call('EXPIRE', key, window_seconds) end
  if count <= limit then return nil end
  return { 'rate_limited', int(limit), int(redis.call('PTTL', key)) }
end
