-- Drops registrations of a device, with the pushes that wait for them.
-- Keys and arguments: pushDrop in scripts.ts.
-- uses: push/push
-- RETURNS OK, hash, fence, hash, fence, ... of the targets
return { 'OK', unpack(drop_registrations(keys, device, platform, tonumber(fence), hash)) }
