-- The transfer record: a hash. `sealed` and `error` are JSON; `relay` is '1' once its uploads are open, `accepted` once
-- the receiver took it; `log` is the position of its announcement; `slot` is its member among the live ones.
-- `files` is the list as a JSON array when it has up to 16 files. Otherwise it has only the few files that are kept after
-- the end; records of an earlier version have the whole list. `brief` has the files that are kept after the end, of a
-- list that has up to 16 files but too many bytes.
-- The sealed text has a key of its own, which is deleted when the transfer ends. `sealed` is '""' before and after
-- that, or 'null' without one (in records of an earlier version it is the text itself).
-- A longer list has a key of its own, which is deleted when the transfer ends: for each file eight hex digits for the
-- offset of its end in the JSON array behind them, so that one file is read without the others.
-- `r<file>` is the generation of a file in the relay and the offset at which it began, or the file's end once it was
-- delivered; `w<file>` is the generation and offset in the last event to its sender, and the time of that event;
-- `a<file>` is how far the receiver has acknowledged it. `begun` has all `r<file>` in one string, once the transfer has
-- ended.

local function read_transfer(key)
  local flat, record = redis.call('HGETALL', key), nil
  if #flat == 0 then return nil end
  record = {}
  for i = 1, #flat, 2 do record[flat[i]] = flat[i + 1] end
  -- A record of an earlier version does not say who ended the transfer.
  local said = record.error
  if said and said ~= 'null' and not string.find(said, '"by_device_id":', 1, true) then
    record.error = string.sub(said, 1, -2) .. ',"by_device_id":null}'
  end
  return record
end

local function party(id, name)
  return '{"device_id":"' .. id .. '","name":' .. cjson.encode(name) .. '}'
end

-- Returns the transfer as JSON without its end, and without the parts that depend on which party asks: files, uploads,
-- downloads.
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

-- Returns '0' when the relay is not in use; else '1' and for each file that has begun ` <file>:<generation>:<offset>`.
local function relay_words(t)
  local words = { t.begun or t.relay }
  for field, value in pairs(t) do
    local file = string.match(field, '^r(%d+)$')
    if file then words[#words + 1] = file .. ':' .. value end
  end
  return table.concat(words, ' ')
end

local function is_over(t)
  return t.state == 'DONE' or t.state == 'FAILED' or t.state == 'CANCELLED'
end
