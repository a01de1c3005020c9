-- The state of a file in the relay: a hash. g = generation, base = where it began, taken = what the receiver's
-- connection has taken, w / wc = token and channel of the request that sends, r / rc = of the one that reads,
-- ww = the sender waits until `taken` is here, rw = the receiver waits until the end is here.
-- Its bytes: one stream a generation, so that what a fenced-off sender still sends finds no stream. A chunk's id is the
-- offset of its END: reading from N is what comes after N, and trimming up to N keeps whatever lies across it.

local function renew(keys, ttl)
  for _, key in ipairs(keys) do redis.call('PEXPIRE', key, ttl) end
end

-- Where the stream ends and where it begins; nil when it is gone.
local function extent(stream)
  if redis.call('EXISTS', stream) == 0 then return nil end
  local info, last, first = redis.call('XINFO', 'STREAM', stream), nil, nil
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = string.match(info[i + 1], '^%d+') end
    if info[i] == 'first-entry' then first = info[i + 1] end
  end
  if not first then return last, last end
  return last, string.format('%.0f', tonumber(string.match(first[1], '^%d+')) - #first[2][2])
end
