-- The store's clock. All times that replicas compare come from here.
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Returns a whole number as decimal digits; tostring() turns milliseconds into 1.7e+12. (`%.0f` takes three times as
-- long. Only a 32-bit store, which is not supported, would need it.)
local function int(n)
  return string.format('%d', n)
end

-- The account is the hash tag of its keys, percent-encoded, so it holds neither braces nor line ends.
local function account_of(key)
  return string.match(key, '{([^}]*)}')
end
