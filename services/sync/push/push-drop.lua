-- Drops registrations of a device, with the pushes that wait for them.
-- uses: clock push
-- KEYS[1] push
-- KEYS[2] due
-- ARGV[1] device
-- ARGV[2] platform, '' for all
-- ARGV[3] fence up to which, '' for any
-- RETURNS OK, hash, fence, hash, fence, ... of the targets
return { 'OK', unpack(drop_registrations({ push = KEYS[1], due = KEYS[2] }, ARGV[1], ARGV[2], tonumber(ARGV[3]))) }
