-- To whom messages to all devices went, as remembered answers say it: each list of devices once, and with the answer a
-- digit for each target. (An answer to a message to 63 devices would hold up to 8 KB of the same ids and names.)
-- A hash: `l<digest>` is a list, a line `<id> <name>` for each device, the sender too; `t<digest>` when an answer last
-- referred to it, in ms, a minute too early at most.
local TARGETS_MS = 720000
local TARGETS_AGAIN_MS = 60000
-- Devices come, go and are renamed: so many lists are kept, the newest, of up to 6.4 KB each.
local MOST_LISTS = 256
-- The list of fewer devices is as short as what refers to it.
local MANY_TARGETS = 4

local function make_space(key, now)
  local lists = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.sub(field, 1, 1) == 't' then
      lists[#lists + 1] = { digest = string.sub(field, 2), at = tonumber(redis.call('HGET', key, field)) }
    end
  end
  table.sort(lists, function(a, b) return a.at > b.at end)
  for i, list in ipairs(lists) do
    if i >= MOST_LISTS or now - list.at > TARGETS_MS then
      redis.call('HDEL', key, 't' .. list.digest, 'l' .. list.digest)
    end
  end
end

-- The digest of the list of these rows, kept for as long as an answer can be asked for again.
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

-- What is remembered of targets: them as JSON; or, of many, nothing, the digest of their list and a digit for each:
-- 1: refused, 2: pushed.
local function brief_targets(key, now, flat, targets)
  if #targets < MANY_TARGETS then return { cjson.encode(targets) } end
  local digits = {}
  for i, target in ipairs(targets) do digits[i] = target[3] ~= '' and '1' or target[4] and '2' or '0' end
  return { '[]', keep_targets(key, now, flat), table.concat(digits) }
end

-- The targets as JSON, as they were.
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
