import type { Redis } from 'ioredis';
import { sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { startReplica } from '../support/replicas.ts';
import { type Site, startSite } from '../support/site.ts';
import { startTcpProxy } from '../support/redis/tcp-proxy.ts';

/*
 * A failover that lost the tail of the log leaves this behind when a replica's way to the store was cut. The tests
 * write it by hand.
 */

let site: Site;
let redis: Redis;
beforeAll(async () => {
  site = await startSite({ APP_HUB_OFFLINE_GRACE_MS: '300', APP_HUB_SWEEP_SECONDS: '5' });
  ({ redis } = site);
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const keyOf = (user: string, name: string): string => `${site.prefix}:{${user}}:${name}`;

test('a stream whose end was lost is forgotten by a replica that holds nothing of its account, though nobody notifies it', async () => {
  const proxy = await startTcpProxy(sharedRedisUrl());
  const env = { APP_HUB_OFFLINE_GRACE_MS: '300' };
  const replica = await startReplica({ redisUrl: proxy.url, keyPrefix: site.prefix, env });
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const [routes, presence] = ['routes', 'presence'].map((name) =>
    keyOf(laptop.headers['X-Dev-User'] as string, name),
  ) as [...[string, string]];
  const onLaptop = site.listen(laptop, site.one);
  await onLaptop.next('ready');
  const onPhone = site.listen(phone, replica);
  const { data } = await onPhone.next('ready');
  const [id, row] = Object.entries(await redis.hgetall(routes)).find(([, text]) => text.includes(phone.id)) as [
    ...[string, string],
  ];
  await onPhone.stop();
  await onLaptop.next('presence', ({ data: { devices } }) => devices.some(({ online }) => !online));
  const accounts = `${site.prefix}:replica:{${data.server_id}}:accounts`;
  await until(
    () => redis.scard(accounts),
    (count) => count === 0,
    'the account to be dropped',
  );

  // The store is as it was before, and nothing happens in the account.
  await redis.hset(routes, id, row);
  await redis.hset(presence, phone.id, `1${Date.now()}`);
  proxy.cut('baton:commands');
  const gone = await onLaptop.next(
    'presence',
    ({ data: { devices } }) => devices.some(({ online }) => !online),
    20_000,
  );
  expect(gone.data.devices).toHaveLength(2);
  expect(await redis.hexists(routes, id)).toBe(0);
  await replica.stop();
  await proxy.stop();
});

test('a stream that comes back with a lost tail when its replica was killed and cleaned up is forgotten all the same', async () => {
  const replica = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix });
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const user = laptop.headers['X-Dev-User'] as string;
  const onLaptop = site.listen(laptop, site.one);
  await onLaptop.next('ready');
  const onPhone = site.listen(phone, replica);
  const { data } = await onPhone.next('ready');
  const rows = await redis.hgetall(keyOf(user, 'routes'));
  const isOffline = ({ data: { devices } }: { data: { devices: { online: boolean }[] } }) =>
    devices.some(({ online }) => !online);
  replica.process.kill('SIGKILL');
  await onLaptop.next('presence', isOffline, 20_000);
  const isReaped = async () => !(await redis.hexists(`${site.prefix}:{sys}:reaping`, data.server_id));
  await until(isReaped, Boolean, 'the replica to be reaped');

  // In a cluster only the account's part may go back, without the lease and the set of accounts.
  const [id, row] = Object.entries(rows).find(([, text]) => text.includes(phone.id)) as [string, string];
  await redis.hset(keyOf(user, 'routes'), id, row);
  await redis.hset(keyOf(user, 'presence'), phone.id, `1${Date.now()}`);
  await onLaptop.next('presence', isOffline, 40_000);
  expect(await redis.hexists(keyOf(user, 'routes'), id)).toBe(0);
  await onPhone.stop();
});
