import { until } from '../support/redis/redis-processes.ts';
import { type Site, startSite } from '../support/site.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.stop());

test('a claim that the store remembers longer than its reaper is worked off', async () => {
  const [replicas, reaping] = [`${site.prefix}:{sys}:replicas`, `${site.prefix}:{sys}:reaping`];
  for (const reaper of Object.keys(await site.redis.hgetall(replicas))) {
    await site.redis.hset(reaping, `of ${reaper}`, reaper);
  }
  const left = () => site.redis.hlen(reaping);
  expect(await until(left, (count) => count === 0, 'all to be cleaned up')).toBe(0);
});
