-- Operations make a script change something only once, however often its request comes. (Comes after `routes`, because
-- it sets RECALLED.)
-- A request with a client's key may come again minutes later, on any replica. The answer is kept under that key.
-- Without a key only the script loader sends the call again, when the connection was lost (`resent_after_ms`: since the
-- first call).
-- The first copy took effect if the log has an entry with the random bits of this very call. The first copy may also
-- come last, from a connection that was given up. So a second copy that takes effect keeps its answer, and each copy
-- looks for one.
local RESENT_SECONDS = '60'
-- Margin for a clock that changed with the primary, and for the time that a copy was on its way.
local UNSURE_MS = 5000

-- Returns the first answer (a list of strings), or nil; or nil and a code when the id belongs to another body.
local function recall(key, fingerprint)
  local stored = redis.call('GET', key)
  if not stored then return nil end
  local first = cjson.decode(stored)
  if first[1] ~= fingerprint then return nil, 'idempotency_key_reused' end
  table.remove(first, 1)
  RECALLED = true
  return first
end

-- Recalls on one of the two routes that honour a client's key. One body may be valid for both, and the fingerprint is of
-- the body alone. So the answer tells the routes apart: an offer's begins with a JSON object, a message's with an id.
local function recall_of_route(key, fingerprint, is_offer)
  local first, refusal = recall(key, fingerprint)
  if first and (string.sub(first[2], 1, 1) == '{') ~= is_offer then return nil, 'idempotency_key_reused' end
  return first, refusal
end

-- Returns whether the answer has to be kept. `seconds` '0': its client does not need it.
local function is_kept(seconds, resent_after_ms)
  return seconds ~= '0' or resent_after_ms ~= nil
end

-- Keeps the answer; `seconds` '0': for as long as a copy of the call may still come.
local function remember(key, fingerprint, seconds, reply)
  seconds = seconds == '0' and RESENT_SECONDS or seconds
  redis.call('SET', key, cjson.encode({ fingerprint, unpack(reply) }), 'EX', seconds)
end

-- Returns what this call logged when it was sent before: its entries of this event, the newest first. Returns nil when
-- there is none, or nil and a code when that is unknown, because the log has lost entries of the time since then.
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
