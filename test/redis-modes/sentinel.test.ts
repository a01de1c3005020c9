import { randomPrefix } from '../support/redis/redis.ts';
import { type SentinelSite, startRedisSentinel } from '../support/redis/redis-sentinel.ts';
import { startReplica, stopReplicas } from '../support/replicas.ts';
import { CLIPBOARD_ENV, describeMainJob, type Replicas } from './main-job.ts';

describe('behind Sentinel', () => {
  let site: SentinelSite;
  let replicas: Replicas;
  const keyPrefix = randomPrefix();
  const start = () => startReplica({ redisUrl: site.url, keyPrefix, env: CLIPBOARD_ENV });

  beforeAll(async () => {
    // No failover is wanted here, however busy the machine is.
    site = await startRedisSentinel({ replicas: 2, downAfterMs: 60_000 });
    const [one, two] = await Promise.all([start(), start()]);
    replicas = { one, two };
  });
  afterAll(async () => {
    await stopReplicas();
    await site.stop();
  });

  describeMainJob(
    () => replicas,
    async () => {
      replicas = { ...replicas, two: await start() };
    },
  );
});
