-- A fixed window counted inside the script that it limits, which saves the trip of its own. Limit 0: off.
-- RETURNS nil when allowed, else the refusal: code, limit, milliseconds until the window ends.
local function over_rate(key, limit, window_seconds)
  if limit == 0 then return nil end
  local count = redis.call('INCR', key)
  if count == 1 then redis.call('EXPIRE', key, window_seconds) end
  if count <= limit then return nil end
  return { 'rate_limited', int(limit), int(redis.call('PTTL', key)) }
end

-- The same of a device and then of its account, which one device alone cannot use up: all together may make so many times
-- the requests of one.
local function over_rates(device_key, account_key, limit, window_seconds)
  return over_rate(device_key, limit, window_seconds) or over_rate(account_key, LIMITS.accountRates * limit, window_seconds)
end
