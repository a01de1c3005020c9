-- The state of a file in the relay is a hash:
--   g = generation, base = offset where it began, end = offset where its bytes end
--   w, wc = token and channel of the request that sends; r, rc = of the one that reads; '' as a token: the request has left
--   ww = offset that `taken` must reach to notify the sender; rw = offset that `end` must reach to notify the reader
--   taken = offset up to which the receiver's connection has taken bytes; got = offset up to which it has taken everything
--   skips = '1' when the request that reads began beyond `got`
-- The bytes of each generation are a stream of their own, so that a chunk from a replaced sender finds no stream. The
-- id of a chunk is the offset of its END: a read from N returns the chunks after N, and a trim to N keeps a chunk that
-- lies across it.

-- Renews the lifetime of keys. A script can begin with this write, because it needs no memory: a full store refuses a
-- script whose first write may need memory, even a script that would free memory.
local function renew(keys, ttl)
  for _, key in ipairs(keys) do redis.call('PEXPIRE', key, ttl) end
end

-- Makes an empty stream whose last id is the offset: chunks are added only to a stream that exists.
local function begin_stream(stream, offset)
  redis.call('XADD', stream, offset .. '-1', 'd', '')
  redis.call('XDEL', stream, offset .. '-1')
end

-- Removes what lies behind an offset, as if it had never come. The last id of a stream does not go back, so the stream
-- is recreated. That takes milliseconds, and is rare: it removes a chunk or two of a sender that was replaced or found
-- no memory.
local function cut(stream, offset)
  if not offset or redis.call('EXISTS', stream) == 0 then return end
  local kept = redis.call('XRANGE', stream, '-', offset .. '-0')
  redis.call('DEL', stream)
  if #kept == 0 then begin_stream(stream, offset) end
  for _, chunk in ipairs(kept) do redis.call('XADD', stream, chunk[1], unpack(chunk[2])) end
end

-- Finds where the stream ends and where it begins; nil when there is none.
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
