-- A fixed window that is counted inside the script that it limits, which saves a trip. Limit 0: off.
-- RETURNS nil when allowed, else the refusal: code, limit, milliseconds until the window ends.
local function over_rate(key, limit, window_seconds)
  if limit == 0 then return nil end
  local count = redis.call('INCR', key)
  if count == 1 then redis.call('EXPIRE', key, window_seconds) end
  if count <= limit then return nil end
  return { 'rate_limited', int(limit), int(redis.call('PTTL', key)) }
end

-- Applies the limit to a device and then to its account. All devices together may make LIMITS.accountRates times the
-- requests of one, so that a single device cannot use up the account's limit.
local function over_rates(device_key, account_key, limit, window_seconds)
  return over_rate(device_key, limit, window_seconds) or over_rate(account_key, LIMITS.accountRates * limit, window_seconds)
end
