-- Releases the reservations of files, and stops keeping the files.
-- Keys and arguments: relayRelease in scripts.ts.
-- RETURNS OK
redis.call('ZREM', keys.files, unpack(files))
local goes = {}
for _, file in ipairs(files) do goes[file] = true end
for _, kept in ipairs(redis.call('ZRANGE', keys.kept, 0, -1)) do
  if goes[string.match(kept, '^(.*)/')] then redis.call('ZREM', keys.kept, kept) end
end
return { 'OK' }
