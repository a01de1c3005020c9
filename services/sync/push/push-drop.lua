-- Drops registrations of a device, with the pushes that wait for them.
-- uses: clock push
-- KEYS[1] push
-- KEYS[2] due
-- ARGV[1] device
-- ARGV[2] platform, '' for all
-- ARGV[3] fence up to which, '' for any
-- ARGV[4] hash of the target, where there is a fence
-- RETURNS OK, hash, fence, hash, fence, ... of the targets
local keys = { push = KEYS[1], due = KEYS[2] }
return { 'OK', unpack(drop_registrations(keys, ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4])) }
