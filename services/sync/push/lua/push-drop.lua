-- Drops registrations of a device, with the pushes that wait for them.
-- Keys and arguments: pushDrop in scripts.ts.
-- uses: push/push
-- RETURNS OK, (hash, fence) of each target
return { 'OK', unpack(drop_registrations(keys, device, platform, tonumber(fence), hash)) }
