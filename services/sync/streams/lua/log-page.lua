-- The next page of the log for one stream. Proves first that the position is still valid.
-- Keys and arguments: logPage in scripts.ts.
-- uses: clock space streams/position
-- RETURNS OK, reason of the loss or '', top, page (id, event, data, ...), whether the end was reached ('1' | '0')
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', 1)[1]
local reason = lost_reason(keys.log, position, now_ms())
if reason then return { 'OK', reason, last and last[1] or '', {}, '1' } end
local page, ended = read_page(keys, position, device, PAGE_BYTES)
return { 'OK', '', last and last[1] or '', page, ended }
