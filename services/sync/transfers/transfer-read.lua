-- One transfer, for one of its parties, with all of its files while it is live.
-- uses: clock transfers/transfer transfers/transfer-told
-- KEYS[1] record
-- KEYS[2] list of files
-- ARGV[1] device that asks
-- RETURNS OK, transfer as JSON without its end, files, words on the relay | not_found | not_a_party
local t = read_transfer(KEYS[1])
if not t then return { 'not_found' } end
if ARGV[1] ~= t.sender and ARGV[1] ~= t.receiver then return { 'not_a_party' } end
return { 'OK', open_json(t), list_of(KEYS[2], t), relay_words(t) }
