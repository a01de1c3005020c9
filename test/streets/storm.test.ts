import { stopReplicas } from '../support/replicas.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis.ts';
import { runStorm } from '../storm/storm.ts';

afterEach(stopReplicas);

test('the streams of a killed replica all come back to the other, which stays alive and small, and none has lost its place', async () => {
  const figures = await runStorm({
    streams: 1_000,
    processes: 1,
    redisUrl: sharedRedisUrl(),
    keyPrefix: randomPrefix(),
  });

  expect(figures.lost).toBe(500);
  expect(figures.resets).toBe(0);
  expect(figures.allReadyMs).toBeLessThan(10_000);
  expect(figures.liveness.worstMs).toBeLessThan(5_000);
  expect(figures.rssMib.highest).toBeLessThan(figures.rssMib.before + 100);
  expect(figures.probes.arrived).toBe(figures.probes.sent);
});
