-- Files give their places back, and are not kept.
-- KEYS[1] files of the account that hold bytes
-- KEYS[2] files of the account that are kept
-- ARGV[..] files
-- RETURNS OK
redis.call('ZREM', KEYS[1], unpack(ARGV))
local goes = {}
for _, file in ipairs(ARGV) do goes[file] = true end
for _, kept in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if goes[string.match(kept, '^(.*)/')] then redis.call('ZREM', KEYS[2], kept) end
end
return { 'OK' }
