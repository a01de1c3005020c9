-- Who reads, or waits for, the files whose names begin so.
-- KEYS[1] files of the account that are read
-- ARGV[1] how the names begin
-- RETURNS OK, then a file and the channel of its reader, again and again
local flat, found = redis.call('HGETALL', KEYS[1]), { 'OK' }
for i = 1, #flat, 2 do
  if string.sub(flat[i], 1, #ARGV[1]) == ARGV[1] then
    found[#found + 1] = flat[i]
    found[#found + 1] = string.match(flat[i + 1], '^%d+ %S+ (.*)$')
  end
end
return found
