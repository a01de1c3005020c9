-- Reads one transfer for one of its parties; while it is live, with all of its files and the sealed text.
-- Keys and arguments: transferRead in scripts.ts.
-- uses: clock transfers/transfer transfers/transfer-view
-- RETURNS OK, transfer as JSON without its end, files, state in the relay | not_found | not_a_party
local t = read_transfer(keys.record)
if not t then return { 'not_found' } end
if device ~= t.sender and device ~= t.receiver then return { 'not_a_party' } end
local sealed = redis.call('GET', keys.sealed)
if sealed then t.sealed = '"' .. sealed .. '"' end
return { 'OK', open_json(t), list_of(keys.files, t), relay_words(t) }
