import { stopReplicas } from '../support/replicas.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { runStorm, shortcomingsOf } from '../storm/storm.ts';

afterEach(stopReplicas);

test('the streams of a killed replica all come back to the other, which stays alive and small, and none has lost its place', async () => {
  const figures = await runStorm({
    streams: 1_000,
    processes: 1,
    redisUrl: sharedRedisUrl(),
    keyPrefix: randomPrefix(),
  });

  expect(figures.lost).toBe(500);
  expect(figures.missed).toBe(200);
  expect(shortcomingsOf(figures, 45_000)).toEqual([]);
});
