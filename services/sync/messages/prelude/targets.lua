-- The devices to which messages to all devices went. A remembered answer does not repeat up to 8 KB of ids and names:
-- it refers to a list that is kept once, and adds a digit for each target.
-- A hash: `l<digest>` is a list, with a line `<id> <name>` for each device, the sender included; `t<digest>` is when an
-- answer last referred to the list, in ms, at most a minute too early.
local TARGETS_MS = 1000 * (LIMITS.idempotencySeconds + 120)
local TARGETS_AGAIN_MS = 60000
-- A list of fewer devices is not longer than a reference to it.
local MANY_TARGETS = 4

-- Makes space for a new list. Devices come, go and are renamed, so only the newest lists are kept.
local function make_space(key, now)
  local lists = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.sub(field, 1, 1) == 't' then
      lists[#lists + 1] = { digest = string.sub(field, 2), at = tonumber(redis.call('HGET', key, field)) }
    end
  end
  table.sort(lists, function(a, b) return a.at > b.at end)
  for i, list in ipairs(lists) do
    if i >= LIMITS.targetLists or now - list.at > TARGETS_MS then
      redis.call('HDEL', key, 't' .. list.digest, 'l' .. list.digest)
    end
  end
end

-- Keeps the list of these rows for as long as an answer can be requested again. RETURNS its digest.
local function keep_targets(key, now, flat)
  local lines = {}
  for i = 1, #flat, 2 do lines[#lines + 1] = flat[i] .. ' ' .. string.match(flat[i + 1], '^[^\n]*') end
  local list = table.concat(lines, '\n')
  local digest = redis.sha1hex(list)
  local at = tonumber(redis.call('HGET', key, 't' .. digest) or nil)
  if at and math.abs(now - at) < TARGETS_AGAIN_MS then return digest end
  if not at then make_space(key, now) end
  redis.call('HSET', key, 't' .. digest, int(now), 'l' .. digest, list)
  redis.call('PEXPIRE', key, TARGETS_MS)
  return digest
end

-- Returns the part of its targets that an answer remembers: their JSON; for many targets '[]', the digest of their
-- list, and a digit for each (1: refused, 2: pushed).
local function brief_targets(key, now, flat, targets, json)
  if #targets < MANY_TARGETS then return json end
  local digits = {}
  for i, target in ipairs(targets) do digits[i] = target[3] ~= '' and '1' or target[4] and '2' or '0' end
  return '[]', keep_targets(key, now, flat), table.concat(digits)
end

-- Returns the remembered targets as JSON, as they were.
local function kept_targets(key, digest, digits, sender)
  local targets = {}
  for id, name in string.gmatch(redis.call('HGET', key, 'l' .. digest) or '', '([^ \n]+) ([^\n]*)') do
    if id ~= sender then
      local digit = string.sub(digits, #targets + 1, #targets + 1)
      targets[#targets + 1] = { id, name, digit == '1' and 'mailbox_full' or '', digit == '2' }
    end
  end
  return #targets == 0 and '[]' or cjson.encode(targets)
end
