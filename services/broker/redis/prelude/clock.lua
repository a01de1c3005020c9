-- Returns the store's time, so that two brokers with different clocks agree.
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Returns a Lua number as decimal digits, because tostring() turns milliseconds into 1.7e+12.
local function int(n)
  return string.format('%.0f', n)
end
