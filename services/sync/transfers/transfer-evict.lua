-- Removes the record of a transfer that has ended, so that another finds room. May be repeated.
-- uses: clock transfers/transfer transfers/transfer-end
-- KEYS[1] inbox
-- KEYS[2] record
-- KEYS[3] due
-- KEYS[4] transfers of the account
-- KEYS[5] list of files
-- ARGV[1] transfer id
-- RETURNS OK
local keys, t = { inbox = KEYS[1], record = KEYS[2], due = KEYS[3], transfers = KEYS[4], files = KEYS[5] }, read_transfer(KEYS[2])
if not t then
  -- Its lists name it still: its expiry finds them.
  redis.call('ZREM', keys.transfers, ARGV[1])
elseif is_over(t) then
  unlist_transfer(keys, t)
end
return { 'OK' }
