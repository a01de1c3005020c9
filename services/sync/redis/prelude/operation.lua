-- Operation ids. The Redis client re-sends unanswered scripts after a reconnect and clients repeat requests: a script
-- that changes something is called with an id made once per request, and answers a repetition with its first answer.
-- (After `routes`, whose RECALLED it sets.)

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

local function remember(key, fingerprint, seconds, reply)
  redis.call('SET', key, cjson.encode({ fingerprint, unpack(reply) }), 'EX', seconds)
end
