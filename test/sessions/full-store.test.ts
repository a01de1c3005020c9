import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { connectTo } from '../support/redis/redis.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem } from '../support/wire.ts';

/* The store of replicas and broker is at its maxmemory. */

let redis: OwnRedis;
let toRedis: ReturnType<typeof connectTo>;
let site: SignInSite;
beforeAll(async () => {
  redis = await startOwnRedis({ persistent: false });
  toRedis = connectTo(redis.url);
  site = await startSignInSite({}, {}, redis.url);
});
afterAll(async () => {
  await site.stop();
  toRedis.disconnect();
  await redis.stop();
});

test('an account is erased, and its devices are back when there is space', async () => {
  const laptop = await site.signIn();
  const phone = await site.signIn(laptop.user, { device_name: 'Phone', device_type: 'ios' });
  const message = { method: 'POST', path: '/api/message', body: { to: 'Phone', content: 'private words' } };
  expect((await laptop.ask(site.one, message)).status).toBe(201);
  const used = Number(/used_memory:(\d+)/.exec(await toRedis.info('memory'))?.[1]);
  await toRedis.config('SET', 'maxmemory', String(used - 500_000));
  expectProblem(await laptop.ask(site.one, message), 'store_full');

  expect((await laptop.ask(site.one, { method: 'DELETE', path: '/api/me/data' })).status).toBe(204);
  expect(await keysHolding(toRedis, site.prefix, 'private words')).toEqual([]);
  await toRedis.config('SET', 'maxmemory', '0');
  expect((await phone.ask(site.two, { path: '/api/message' })).status).toBe(200);
  const { body } = await phone.ask(site.two, { path: '/api/devices' });
  const { devices } = body as { devices: { name: string; type: string }[] };
  expect(devices.map(({ name, type }) => `${name}: ${type}`).sort()).toEqual(['Laptop: browser', 'Phone: ios']);
});
