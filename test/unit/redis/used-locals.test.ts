import { usedLocals } from '../../../services/server/redis/scripts/used-locals.ts';

const CHUNKS = `-- Not for the store.
local LIMIT = 3
local OTHER = 4
local first, second = 1, 2

-- Says least.
local function least(n)
  return math.min(n, LIMIT) -- OTHER
end
local function unused()
  return OTHER
end
local function most()
  return least(second)
end`;

test('a script gets what it names, what that names, and nothing else', () => {
  expect(usedLocals(CHUNKS, 'return most() -- unused()')).toBe(`local LIMIT = 3
local first, second = 1, 2
local function least(n)
  return math.min(n, LIMIT)
end
local function most()
  return least(second)
end`);
  expect(usedLocals(CHUNKS, "return { 'OK' }")).toBe('');
});

test('a chunk that does something when it is loaded is refused', () => {
  expect(() => usedLocals("redis.call('PING')\nlocal a = 1", 'return a')).toThrow(
    "more than locals: redis.call('PING')",
  );
  expect(() => usedLocals("local a = 1\nredis.call('PING')", 'return a')).toThrow('more than locals: local a = 1');
});
