-- The state of a file in the relay: a hash. g = generation, base = where it began, end = where its bytes end, taken = what
-- the receiver's connection has taken, got = up to where it has taken everything, skips = '1' when the one that reads
-- began behind that. w / wc = token and channel of the request that sends, r / rc = of the one that reads; a token of ''
-- was there and has left. ww = the sender waits until `taken` is here, rw = the receiver waits until the end is here.
-- A store that is full refuses a script whose first write may need memory, also one that would free some: `renew` first.
-- Its bytes: one stream a generation, so that what a fenced-off sender still sends finds no stream. A chunk's id is the
-- offset of its END: reading from N is what comes after N, and trimming up to N keeps whatever lies across it.

local function renew(keys, ttl)
  for _, key in ipairs(keys) do redis.call('PEXPIRE', key, ttl) end
end

-- An empty stream whose last id is the offset: chunks are only added to a stream that exists.
local function begin_stream(stream, offset)
  redis.call('XADD', stream, offset .. '-1', 'd', '')
  redis.call('XDEL', stream, offset .. '-1')
end

-- Takes out what lies behind an offset, as if it had never come. The last id of a stream does not go back, so that it
-- is made anew: milliseconds, for what happens to a chunk or two of a sender that was replaced or had no memory.
local function cut(stream, offset)
  if not offset or redis.call('EXISTS', stream) == 0 then return end
  local kept = redis.call('XRANGE', stream, '-', offset .. '-0')
  redis.call('DEL', stream)
  if #kept == 0 then begin_stream(stream, offset) end
  for _, chunk in ipairs(kept) do redis.call('XADD', stream, chunk[1], unpack(chunk[2])) end
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
