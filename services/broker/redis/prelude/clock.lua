-- The store's clock: whatever two brokers could see differently comes from here.
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- A Lua number as decimal digits; tostring() turns milliseconds into 1.7e+12.
local function int(n)
  return string.format('%.0f', n)
end
