import { makePace } from '../../../shared/client/stream/pace.ts';
import { makeRecent } from '../../../shared/client/stream/recent.ts';
import type { Drop } from '../../../shared/client/stream/connection.ts';

const ended: Drop = { cause: 'ended', hintMs: null, error: null };
const delays = (random: () => number, count: number) => {
  const pace = makePace(random);
  return Array.from({ length: count }, () => pace.nextDelayMs(ended, null));
};

test('the wait between attempts doubles up to half a minute and never ends', () => {
  expect(delays(() => 1, 9)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(delays(() => 1, 2_000).at(-1)).toBe(30_000);
});

test('the wait is drawn from the whole interval', () => {
  expect(delays(() => 0, 8)).toEqual(Array(8).fill(0));
  expect(delays(() => 0.25, 4)).toEqual([125, 250, 500, 1_000]);
  const drawn = delays(Math.random, 1_000).slice(6);
  expect(Math.max(...drawn)).toBeLessThanOrEqual(30_000);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
  expect(new Set(drawn).size).toBeGreaterThan(900);
});

test('a stream that lived begins anew, one that died at once does not', () => {
  const pace = makePace(() => 1);
  for (let failures = 0; failures < 5; failures += 1) pace.nextDelayMs(ended, null);
  expect(pace.nextDelayMs(ended, 20)).toBe(16_000);
  expect(pace.nextDelayMs(ended, 1_000)).toBe(500);
  expect(pace.nextDelayMs(ended, null)).toBe(1_000);
});

test.each([Number.NaN, -5, Number.POSITIVE_INFINITY])('a wish of %p milliseconds is ignored', (hintMs) => {
  expect(makePace(() => 1).nextDelayMs({ cause: 'reconnect', hintMs, error: null }, 5_000)).toBe(500);
});

test('a wish to come back at once is granted', () => {
  expect(makePace(() => 1).nextDelayMs({ cause: 'reconnect', hintMs: 0, error: null }, 5_000)).toBe(0);
});

test('what was seen longest ago is forgotten first', () => {
  const recent = makeRecent(3);
  expect(['a', 'b', 'c', 'a', 'd'].map((word) => recent.add(word))).toEqual([true, true, true, false, true]);
  expect(['b', 'c', 'd'].map((word) => recent.add(word))).toEqual([false, false, false]);
  expect(recent.add('a')).toBe(true);
});
