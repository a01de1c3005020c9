import { usedLocals, withoutConstants } from '../../../services/server/redis/scripts/used-locals.ts';

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
  expect(usedLocals(CHUNKS, 'return most() + least(1) -- unused()')).toBe(`local LIMIT = 3
local first, second = 1, 2
local function least(n)
  return math.min(n, LIMIT)
end
local function most()
  return least(second)
end`);
  expect(usedLocals(CHUNKS, "return { 'OK' }")).toBe('');
});

test('a function that only one other names is made when that one is called', () => {
  expect(usedLocals(CHUNKS, 'return most()')).toBe(`local LIMIT = 3
local first, second = 1, 2
local function most()
local function least(n)
  return math.min(n, LIMIT)
end
  return least(second)
end`);
});

test('a function stays where it is if a parameter would hide what it names', () => {
  const chunks = `local function first()
  return 1
end
local function second()
  return first()
end
local function third(first)
  return second() + first
end
local function fourth()
  return first()
end`;
  expect(usedLocals(chunks, 'return third(2) + fourth()')).toBe(chunks);
});

test('constants are put in place of their names, in the order in which they were defined', () => {
  const lua = `local LATE_MS = 1000 * LIMITS.lateSeconds
local IS_ON = true
local MOST, FIRST_SEEN = 3, {}
return IS_ON and now > LATE_MS and 'RATE_LATE_MS'`;
  expect(withoutConstants(lua)).toBe(`local MOST, FIRST_SEEN = 3, {}
return true and now > (1000 * LIMITS.lateSeconds) and 'RATE_LATE_MS'`);
});

test('a chunk that does something when it is loaded is refused', () => {
  expect(() => usedLocals("redis.call('PING')\nlocal a = 1", 'return a')).toThrow(
    "more than locals: redis.call('PING')",
  );
  expect(() => usedLocals("local a = 1\nredis.call('PING')", 'return a')).toThrow('more than locals: local a = 1');
});
