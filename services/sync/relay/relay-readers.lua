-- Who reads, or waits for, the files whose names begin so.
-- Keys and arguments: relayReaders in scripts.ts.
-- RETURNS OK, then a file and the channel of its reader, again and again
local flat, found = redis.call('HGETALL', keys.reads), { 'OK' }
for i = 1, #flat, 2 do
  if string.sub(flat[i], 1, #prefix) == prefix then
    found[#found + 1] = flat[i]
    found[#found + 1] = string.match(flat[i + 1], '^%d+ %S+ (.*)$')
  end
end
return found
