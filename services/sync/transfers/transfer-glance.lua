-- One transfer as lists have it, for one of its parties: without a long list of files. Nothing of it when it is in
-- another state than the one that is looked for.
-- uses: clock transfers/transfer transfers/transfer-told
-- KEYS[1] record
-- ARGV[1] device that asks
-- ARGV[2] state that is looked for, '' for any
-- RETURNS OK, transfer as JSON without its end or '', files or '', words on the relay | not_found | not_a_party
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], 'state') ~= ARGV[2] then return { 'OK', '', '', '' } end
local t = read_transfer(KEYS[1])
if not t then return { 'not_found' } end
if ARGV[1] ~= t.sender and ARGV[1] ~= t.receiver then return { 'not_a_party' } end
return { 'OK', open_json(t), brief_parts(t) }
