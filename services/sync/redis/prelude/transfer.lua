-- The transfer record: a hash. `sealed` and `error` are JSON, `files` a JSON array; `relay` is '1' once its uploads are
-- open, `accepted` once the receiver took it; `log` is the position of its announcement.
-- Per device and in the inbox: `<receiver>+<log id>:<transfer>` while it is not accepted, `<device>=<created>-<transfer>`
-- for the lists of both; `!live:<transfer>` counts against the account's limit.
-- `r<file>` is the generation of a file in the relay and the offset at which that began, or the file's end once it was
-- delivered; `a<file>` is how far the receiver has acknowledged it.
local TRANSFER_MS = 86400000
local FILES_IN_EVENTS = 16

local function read_transfer(key)
  local flat, record = redis.call('HGETALL', key), nil
  if #flat == 0 then return nil end
  record = {}
  for i = 1, #flat, 2 do record[flat[i]] = flat[i + 1] end
  return record
end

local function party(id, name)
  return '{"device_id":"' .. id .. '","name":' .. cjson.encode(name) .. '}'
end

-- The transfer as JSON without its end, and without what depends on who is asking: files, uploads, downloads.
local function open_json(t)
  return '{"transfer_id":"' .. t.id .. '","state":"' .. t.state .. '","mode":"' .. t.mode .. '","phase":"' .. t.phase
    .. '","sender":' .. party(t.sender, t.sender_name) .. ',"receiver":' .. party(t.receiver, t.receiver_name)
    .. ',"file_count":' .. t.count .. ',"total_bytes":' .. t.bytes .. ',"sealed":' .. t.sealed
    .. ',"progress":{"sent_bytes":' .. t.sent .. ',"received_bytes":' .. t.received .. '},"error":' .. t.error
    .. ',"created_at":' .. t.created .. ',"updated_at":' .. t.updated .. ',"expires_at":' .. t.expires
end

local function relay_url(id, file, generation)
  return '/api/relay/' .. id .. '/' .. file .. '/' .. generation
end

-- '0': the relay is not in use; else '1' and for each file that has begun ` <file>:<generation>:<offset>`.
local function relay_words(t)
  local words = { t.relay }
  for field, value in pairs(t) do
    local file = string.match(field, '^r(%d+)$')
    if file then words[#words + 1] = file .. ':' .. value end
  end
  return table.concat(words, ' ')
end

-- As events carry it: short lists of files, and the relay's addresses once it is in use.
local function event_json(t)
  local count = tonumber(t.count)
  if count > FILES_IN_EVENTS then return open_json(t) .. '}' end
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

-- Writes what can change; the record outlives its time a little, so that its expiry can still be announced.
local function save_transfer(keys, t, now)
  t.updated, t.expires = int(now), int(now + TRANSFER_MS)
  local flat = { 'updated', t.updated, 'expires', t.expires }
  for _, name in ipairs(CHANGING) do
    flat[#flat + 1] = name
    flat[#flat + 1] = t[name]
  end
  redis.call('HSET', keys.record, unpack(flat))
  redis.call('PEXPIRE', keys.record, TRANSFER_MS + 3600000)
  redis.call('ZADD', keys.due, t.expires, 'transfer:' .. t.id)
end
