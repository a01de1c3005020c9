-- A page of a device's mailbox, oldest first. With a position: what a stream that starts there will not get from the
-- log, so that a message is never sent twice on one stream, nor forgotten.
-- uses: clock mail
-- KEYS[1] devices
-- KEYS[2] log
-- KEYS[3] mail
-- KEYS[4] inbox
-- ARGV[1] device id
-- ARGV[2] member after which to go on, '' at first
-- ARGV[3] position of the stream, '' for everything
-- ARGV[4] bytes of a page
-- ARGV[5] seconds in the mailbox
-- RETURNS OK, member to go on after ('' at the end), JSON without its end, ... | device_required
local keys, now, device = { log = KEYS[2], mail = KEYS[3], inbox = KEYS[4] }, now_ms(), ARGV[1]
if redis.call('HEXISTS', KEYS[1], device) == 0 then return { 'device_required' } end
purge_mail(keys, device, now, tonumber(ARGV[5]))

local start = tonumber(string.match(ARGV[3], '^%d+') or '0')
local function comes_by_log(log_id)
  if ARGV[3] == '' or tonumber(string.match(log_id, '^%d+')) <= start then return false end
  -- Later than the position, yet not in the log: the log was lost or expired under an older clock.
  return #redis.call('XRANGE', keys.log, log_id, log_id) == 1
end

local reply, bytes = { 'OK', '' }, 0
local from = ARGV[2] == '' and '[' .. device .. ':' or '(' .. ARGV[2]
while true do
  local members = redis.call('ZRANGEBYLEX', keys.inbox, from, '(' .. device .. ';', 'LIMIT', 0, 32)
  for _, member in ipairs(members) do
    local log_id, message_id = string.match(member, '^.-:(.-):(.*)$')
    from = '(' .. member
    local stored = not comes_by_log(log_id) and redis.call('HGET', keys.mail, message_id)
    if stored then
      reply[#reply + 1] = string.match(stored, '^.-\n.-\n.-\n.-\n(.*)$')
      bytes = bytes + #stored
    end
    if bytes >= tonumber(ARGV[4]) then
      reply[2] = member
      return reply
    end
  end
  if #members < 32 then return reply end
end
