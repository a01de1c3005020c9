import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { startOwnRedis } from '../../../support/redis/own-redis.ts';

/* Some work does not affect the answer. The store may have no space for it. */

const spaceOf = (service: string) =>
  readFileSync(new URL(`../../../../services/${service}/redis/prelude/space.lua`, import.meta.url), 'utf8');

let redis: Redis;
let stop: () => Promise<void>;

beforeAll(async () => {
  const own = await startOwnRedis({ persistent: false });
  redis = new Redis(own.url);
  stop = async () => {
    redis.disconnect();
    await own.stop();
  };
  await redis.hset('hash', 'field', 'value');
});
afterAll(() => stop());
afterEach(async () => {
  await redis.config('SET', 'maxmemory', '0');
  await redis.config('SET', 'min-replicas-to-write', '0');
});

describe.each(['sync', 'broker'])('in %s', (service) => {
  const space = spaceOf(service);
  const run = (...command: string[]) =>
    redis.eval(`${space}\nwhere_there_is_space(redis.call, unpack(ARGV)) return 'went on'`, 0, ...command);

  test('it is done where there is space', async () => {
    expect(await run('SET', service, 'written')).toBe('went on');
    expect(await redis.get(service)).toBe('written');
  });

  test('a script goes on without it where the memory is full', async () => {
    await redis.config('SET', 'maxmemory', '1');
    expect(await run('SET', 'more', 'x')).toBe('went on');
    expect(await redis.exists('more')).toBe(0);
  });

  test('a script goes on without it where the disk is full', async () => {
    // The error is that of a Redis with a full disk, without such a disk.
    const full = "function() error({ err = 'MISCONF Errors writing to the AOF file: No space left on device' }) end";
    expect(await redis.eval(`${space}\nwhere_there_is_space(${full}) return 'went on'`, 0)).toBe('went on');
  });

  test('any other failure ends the script', async () => {
    await expect(run('INCR', 'hash')).rejects.toThrow('WRONGTYPE');
    await redis.config('SET', 'min-replicas-to-write', '1');
    await expect(run('SET', 'more', 'x')).rejects.toThrow('NOREPLICAS');
    await expect(redis.eval(`${space}\nwhere_there_is_space(function() return nil + 1 end)`, 0)).rejects.toThrow(
      'attempt to perform arithmetic',
    );
  });
});
