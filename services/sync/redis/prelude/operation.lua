-- Operations: a script changes something once, however often its request comes. (After `routes`, whose RECALLED it sets.)
-- With a client's key it comes again minutes later, on whatever replica: the answer is kept under that key, for as many
-- seconds as the caller says. Without a key only the Redis client sends it again, after a reconnect
-- (`resent_after_ms`): it was carried out if the log has an entry with the random bits of this very call.
-- By so much the clocks of a primary and of the one that took its place may differ, and that of the caller run wrong.
local UNSURE_MS = 2000

-- The first answer (a list of strings), or nil; or nil and a code when the id belongs to another body. `seconds` '0': no
-- answer is kept.
local function recall(key, fingerprint, seconds)
  local stored = seconds ~= '0' and redis.call('GET', key)
  if not stored then return nil end
  local first = cjson.decode(stored)
  if first[1] ~= fingerprint then return nil, 'idempotency_key_reused' end
  table.remove(first, 1)
  RECALLED = true
  return first
end

local function remember(key, fingerprint, seconds, reply)
  if seconds == '0' then return end
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
