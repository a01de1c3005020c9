import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

/** Runs Lua after the clock of a service. Redis tells this time as its seconds and microseconds. */
function run(service: string, lua: string, time = "{ '1700000000', '0' }", ...args: string[]) {
  const place = new URL(`../../../../services/${service}/redis/prelude/clock.lua`, import.meta.url);
  const clock = readFileSync(place, 'utf8').replaceAll("redis.call('TIME')", time);
  return redis.eval(`${clock}\n${lua}`, 1, randomPrefix(), ...args);
}

describe.each(['sync', 'broker'])('the clock of %s', (service) => {
  test.each([
    ['1700000000', '0', '1700000000000'],
    ['1700000000', '123999', '1700000000123'],
    ['1700000000', '999999', '1700000000999'],
    ['1700000001', '1000', '1700000001001'],
  ])('tells the time of the store in whole ms: %s s and %s us', async (seconds, microseconds, ms) => {
    expect(await run(service, 'return int(now_ms())', `{ '${seconds}', '${microseconds}' }`)).toBe(ms);
  });
});

test('the account of a key is its hash tag', async () => {
  expect(await run('sync', 'return account_of(ARGV[1])', undefined, 'baton:{u%7B1}:log')).toBe('u%7B1');
});
