import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { connectTo, randomPrefix } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { startBroker, stopBrokers } from './support/brokers.ts';
import { mintOf, serviceOf } from './support/service.ts';

/* The broker's store has no space left. Signed-in users stay signed in. */

let redis: OwnRedis;
let toRedis: ReturnType<typeof connectTo>;

beforeEach(async () => {
  redis = await startOwnRedis({ diskBytes: 2_000_000 });
  toRedis = connectTo(redis.url);
});
afterEach(async () => {
  await stopBrokers();
  toRedis.disconnect();
  await redis.stop();
});

async function startService() {
  return serviceOf(await startBroker({ redisUrl: redis.url, keyPrefix: randomPrefix() }));
}

test('at maxmemory sessions are verified, renewed, listed and revoked, and none is made', async () => {
  const service = await startService();
  const [first, second] = [await service.mint(), await service.mint()];
  await toRedis.config('SET', 'maxmemory', '1');

  // This is the first use, which the store would normally note.
  expect(await service.verify(first.cookie.value)).toMatchObject({ session_id: first.session_id });
  const renewed = await service.rotate(first.cookie.value);
  expect(await service.verify(renewed.cookie.value)).toMatchObject({ session_id: first.session_id });
  expect(await service.list(second.subject)).toHaveLength(1);
  expect(await service.tryMint(mintOf())).toMatchObject({ status: 503, body: { code: 'store_full' } });
  const { subject, session_id } = second;
  expect((await service.tryRevoke({ subject, session_id, reason: 'removed' })).status).toBe(204);
  expect((await service.tryVerify(second.cookie.value)).status).toBe(401);
});

test('with a full disk sessions are verified, and everything else is refused', async () => {
  const service = await startService();
  const session = await service.mint();
  const part = 'x'.repeat(100_000);
  const isRefused = (number: number) =>
    toRedis.set(`filling:${number}`, part).then(
      () => false,
      () => true,
    );
  let number = 0;
  await until(() => isRefused(number++), Boolean, 'the disk to be full');

  expect(await service.verify(session.cookie.value)).toMatchObject({ session_id: session.session_id });
  expect(await service.tryMint(mintOf())).toMatchObject({ status: 503, body: { code: 'store_full' } });
  redis.clearDisk();
  const isMinted = async () => (await service.tryMint(mintOf())).status === 201;
  await until(isMinted, Boolean, 'the store to take something');
});
