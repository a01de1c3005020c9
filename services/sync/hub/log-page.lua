-- The next page of the log for one stream. Proves first that the position is still valid.
-- uses: clock log hub/position
-- KEYS[1] log
-- KEYS[2] mail
-- KEYS[3] inbox
-- ARGV[1] position
-- ARGV[2] device id or ~name
-- ARGV[3] bytes of a page
-- RETURNS OK, lost reason or '', top, page (id, event, data, ...), whether the end was reached ('1' | '0')
local keys = { log = KEYS[1], mail = KEYS[2], inbox = KEYS[3] }
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', 1)[1]
local reason = lost_reason(keys.log, ARGV[1], now_ms())
if reason then return { 'OK', reason, last and last[1] or '', {}, '1' } end
local page, ended = read_page(keys, ARGV[1], ARGV[2], tonumber(ARGV[3]))
return { 'OK', '', last and last[1] or '', page, ended }
