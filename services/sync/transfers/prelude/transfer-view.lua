-- A transfer as answers and events show it, and how it is written. (Comes after `transfer`.)

-- Returns files and state in the relay for lists, events and answers of actions, without long lists.
local function brief_parts(t)
  if tonumber(t.count) > LIMITS.filesInEvents then return '', t.relay end
  return t.files, relay_words(t)
end

-- Returns the whole list of a live transfer, and the part that is kept of an ended one.
local function list_of(key, t)
  local list = tonumber(t.count) > LIMITS.filesInEvents and redis.call('GETRANGE', key, 8 * t.count, -1) or ''
  return list ~= '' and list or t.files
end

-- Returns a transfer as events carry it: with a short list of files, and the relay's addresses once the relay is in
-- use.
local function event_json(t)
  local count = tonumber(t.count)
  if count > LIMITS.filesInEvents then return open_json(t) .. '}' end
  local json, uploads, downloads = open_json(t) .. ',"files":' .. t.files, {}, {}
  if t.relay == '1' then
    for i = 0, count - 1 do
      local generation, offset = string.match(t['r' .. i] or '0:0', '^(%d+):(%d+)$')
      local url = '"' .. relay_url(t.id, i, generation) .. '"'
      uploads[#uploads + 1] = '{"index":' .. i .. ',"upload_url":' .. url .. ',"offset":' .. offset .. '}'
      downloads[#downloads + 1] = '{"index":' .. i .. ',"download_url":' .. url .. '}'
    end
    json = json .. ',"uploads":[' .. table.concat(uploads, ',') .. '],"downloads":[' .. table.concat(downloads, ',') .. ']'
  end
  return json .. '}'
end

local CHANGING = { 'state', 'mode', 'phase', 'sent', 'received', 'error', 'relay', 'accepted', 'forwarded', 'dirty' }

-- Writes the fields that can change. The record lives a little longer than the transfer, so that its expiry can still
-- be announced.
local function save_transfer(keys, t, now)
  t.updated, t.expires = int(now), int(now + 1000 * LIMITS.transferSeconds)
  local flat = { 'updated', t.updated, 'expires', t.expires }
  for _, name in ipairs(CHANGING) do
    flat[#flat + 1] = name
    flat[#flat + 1] = t[name]
  end
  redis.call('HSET', keys.record, unpack(flat))
  for _, key in ipairs({ keys.record, keys.files, keys.sealed }) do redis.call('EXPIRE', key, LIMITS.transferSeconds + 3600) end
  redis.call('ZADD', keys.due, t.expires, 'transfer:' .. t.id)
end
