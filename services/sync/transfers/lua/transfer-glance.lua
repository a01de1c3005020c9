-- Reads one transfer for one of its parties as lists show it, without a long list of files. Returns nothing of it when
-- it is not in `state`.
-- Keys and arguments: transferGlance in scripts.ts.
-- uses: clock transfers/transfer transfers/transfer-view
-- RETURNS OK, transfer as JSON without its end or '', files or '', state in the relay | not_found | not_a_party
if state ~= '' and redis.call('HGET', keys.record, 'state') ~= state then return { 'OK', '', '', '' } end
local t = read_transfer(keys.record)
if not t then return { 'not_found' } end
if device ~= t.sender and device ~= t.receiver then return { 'not_a_party' } end
return { 'OK', open_json(t), brief_parts(t) }
