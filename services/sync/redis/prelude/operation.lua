-- Operations: a script changes something once, however often its request comes. (After `routes`, whose RECALLED it sets.)
-- With a client's key it comes again minutes later, on whatever replica: the answer is kept under that key.
-- Without a key only the script loader sends it again, when the connection was lost (`resent_after_ms`: since the first call).
-- The first copy was carried out if the log has an entry with the random bits of this very call. It may also come last, out
-- of a connection that was given up: so whatever is carried out as a second copy keeps its answer, and each copy looks.
local RESENT_SECONDS = '60'
-- By so much the clock may have changed with the primary, and so long a copy may have been on its way.
local UNSURE_MS = 5000

-- The first answer (a list of strings), or nil; or nil and a code when the id belongs to another body.
local function recall(key, fingerprint)
  local stored = redis.call('GET', key)
  if not stored then return nil end
  local first = cjson.decode(stored)
  if first[1] ~= fingerprint then return nil, 'idempotency_key_reused' end
  table.remove(first, 1)
  RECALLED = true
  return first
end

-- Whether the answer has to be kept. `seconds` '0': not for the sake of its client.
local function is_kept(seconds, resent_after_ms)
  return seconds ~= '0' or resent_after_ms ~= nil
end

-- Keeps the answer; `seconds` '0': for as long as a copy of the call may still come.
local function remember(key, fingerprint, seconds, reply)
  seconds = seconds == '0' and RESENT_SECONDS or seconds
  redis.call('SET', key, cjson.encode({ fingerprint, unpack(reply) }), 'EX', seconds)
end

-- What this call logged when it was sent before: its entries of this event, the newest first; nil where there is none; nil
-- and a code where nobody can tell, because the log has lost entries of the time since then.
local function logged_before(key, now, random, event, resent_after_ms)
  if not resent_after_ms then return nil end
  local ending, upto, found, oldest = '-' .. random, '+', {}, nil
  repeat
    local chunk = redis.call('XREVRANGE', key, upto, '-', 'COUNT', 32)
    for _, entry in ipairs(chunk) do
      if string.sub(entry[1], -#ending) == ending and entry[2][4] == event then
        found[#found + 1] = { id = entry[1], to = entry[2][6], data = entry[2][8] }
      end
      oldest, upto = entry, '(' .. entry[1]
    end
  until #chunk < 32
  if #found > 0 then
    RECALLED = true
    return found
  end
  local is_whole = not oldest or oldest[2][2] == ''
  if is_whole or tonumber(string.match(oldest[1], '^%d+')) < now - resent_after_ms - UNSURE_MS then return nil end
  RECALLED = true
  return nil, 'store_unavailable'
end
