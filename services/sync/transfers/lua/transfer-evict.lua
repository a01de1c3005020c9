-- Removes the record of a transfer that has ended, to stay within the limit of records. May be repeated.
-- Keys and arguments: transferEvict in scripts.ts.
-- uses: transfers/transfer transfers/offers transfers/transfer-end
-- RETURNS OK
local t = read_transfer(keys.record)
if not t then
  -- The record has expired. The job of its expiry removes the transfer from the other lists.
  redis.call('ZREM', keys.transfers, transfer_id)
elseif is_over(t) then
  unlist_transfer(keys, t)
end
return { 'OK' }
