-- Lists the requests that read or wait for the files whose names begin with a prefix.
-- Keys and arguments: relayReaders in scripts.ts.
-- RETURNS OK, then (file, channel of its reader) of each read
local flat, found = redis.call('HGETALL', keys.reads), { 'OK' }
for i = 1, #flat, 2 do
  if string.sub(flat[i], 1, #prefix) == prefix then
    found[#found + 1] = flat[i]
    found[#found + 1] = string.match(flat[i + 1], '^%d+ %S+ (.*)$')
  end
end
return found
