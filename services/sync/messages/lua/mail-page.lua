-- Returns a page of a device's mailbox, oldest first. With a position, leaves out the messages that a stream from there
-- gets from the log, so that no message is sent twice on one stream, and none is missing.
-- Keys and arguments: mailPage in scripts.ts.
-- uses: clock messages/mail space
-- RETURNS OK, member after which the next page begins ('' at the end), JSON without its end, ... | device_required
local now = now_ms()
if redis.call('HEXISTS', keys.devices, device) == 0 then return { 'device_required' } end
where_there_is_space(purge_mail, keys, device, now)

local start = tonumber(string.match(position, '^%d+') or '0')
local function comes_by_log(log_id)
  if position == '' or tonumber(string.match(log_id, '^%d+')) <= start then return false end
  -- A later message may not be in the log, if the log was lost, or expired under an older clock.
  return #redis.call('XRANGE', keys.log, log_id, log_id) == 1
end

local reply, bytes = { 'OK', '' }, 0
local from = after == '' and '[' .. device .. ':' or '(' .. after
while true do
  local members = redis.call('ZRANGEBYLEX', keys.inbox, from, '(' .. device .. ';', 'LIMIT', 0, 32)
  for _, member in ipairs(members) do
    local log_id, message_id = string.match(member, '^.-:(.-):(.*)$')
    from = '(' .. member
    local stored = not comes_by_log(log_id) and redis.call('HGET', keys.mail, message_id)
    if stored then
      reply[#reply + 1] = string.sub(stored, string.match(stored, '^.-\n.-\n.-\n.-\n()'))
      bytes = bytes + #stored
    end
    if bytes >= PAGE_BYTES then
      reply[2] = member
      return reply
    end
  end
  if #members < 32 then return reply end
end
