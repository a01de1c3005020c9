import { readFileSync } from 'node:fs';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { startReplica, stopReplicas } from '../support/replicas.ts';
import { CLIPBOARD_ENV, describeMainJob, type Replicas } from './main-job.ts';

const ACL = new URL('../../deploy/redis/users.acl', import.meta.url);
const PASSWORD = 'only-for-this-test';

let cluster: RedisCluster;
let replicas: Replicas;
const logs: (() => string)[] = [];

async function start() {
  const replica = await startReplica({
    redisUrl: cluster.url.replace('redis://', `redis://baton:${PASSWORD}@`).replaceAll(',redis://', ','),
    // The user's keys are those of this prefix.
    keyPrefix: 'baton',
    env: { ...CLIPBOARD_ENV, APP_REDIS_MODE: 'cluster' },
  });
  logs.push(replica.log);
  return replica;
}

beforeAll(async () => {
  cluster = await startRedisCluster();
  const user = /^user baton (.*)$/m.exec(readFileSync(ACL, 'utf8'))?.[1] ?? '';
  const rules = user.replace(/#0{64}/, `>${PASSWORD}`).split(' ');
  await Promise.all(cluster.nodes.map((node) => node.cli('acl', 'setuser', 'baton', ...rules)));
  const [one, two] = await Promise.all([start(), start()]);
  replicas = { one, two };
}, 60_000);
afterAll(async () => {
  await stopReplicas();
  await cluster.stop();
});

describe('on a cluster, as the Redis user that is shipped', () => {
  describeMainJob(
    () => replicas,
    async () => {
      replicas = { ...replicas, two: await start() };
    },
  );

  test('nothing that a replica needs is denied to it', () => {
    expect(logs.map((log) => log()).join('\n')).not.toMatch(/NOPERM|CROSSSLOT|WRONGTYPE/);
  });
});
