-- Operations: a script changes something once, however often its request comes. (After `routes`, whose RECALLED it sets.)
-- With a client's key it comes again minutes later, on whatever replica: the answer is kept under that key, for as many
-- seconds as the caller says. Without a key only the Redis client sends it again, after a reconnect (`resent`): it was
-- carried out if the log has an entry with the random bits of this very call.
-- An entry is looked for among those of the last minute. The client sends again within seconds, or not at all.
local RESENT_WITHIN_MS = 60000

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
  redis.call('SET', key, cjson.encode({ fingerprint, unpack(reply) }), 'EX', seconds)
end

-- What this call logged when it was sent before: its entries of this event, the newest first; nil where there is none.
local function logged_before(resent, key, now, random, event)
  if not resent then return nil end
  local ending, upto, found = '-' .. random, '+', {}
  repeat
    local chunk, is_old = redis.call('XREVRANGE', key, upto, '-', 'COUNT', 32), false
    for _, entry in ipairs(chunk) do
      is_old = tonumber(string.match(entry[1], '^%d+')) < now - RESENT_WITHIN_MS
      if string.sub(entry[1], -#ending) == ending and entry[2][4] == event then
        found[#found + 1] = { id = entry[1], to = entry[2][6], data = entry[2][8] }
      end
      upto = '(' .. entry[1]
    end
  until #chunk < 32 or is_old
  if #found == 0 then return nil end
  RECALLED = true
  return found
end
