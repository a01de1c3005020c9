-- Reads one file of a transfer for one of its parties, without the other files when the list is long.
-- Keys and arguments: transferFile in scripts.ts.
-- RETURNS OK, sender | receiver, state, '1': the relay is in use, generation and its offset or '', file as JSON or '',
--         else the whole list | not_found | not_a_party
local t = redis.call('HMGET', keys.record, 'sender', 'receiver', 'state', 'relay', 'r' .. file, 'count')
if not t[1] then return { 'not_found' } end
if device ~= t[1] and device ~= t[2] then return { 'not_a_party' } end
local index, count, json = tonumber(file), tonumber(t[6]), ''
if index >= count then return { 'not_found' } end
local role = device == t[1] and 'sender' or 'receiver'
local ends = redis.call('GETRANGE', keys.files, 8 * math.max(0, index - 1), 8 * index + 7)
if ends ~= '' then
  -- A comma separates two files, and a bracket comes before the first.
  local from, to = index == 0 and 1 or tonumber(string.sub(ends, 1, 8), 16) + 1, tonumber(string.sub(ends, -8), 16)
  json = redis.call('GETRANGE', keys.files, 8 * count + from, 8 * count + to - 1)
end
return { 'OK', role, t[3], t[4], t[5] or '', json, json == '' and redis.call('HGET', keys.record, 'files') or '' }
