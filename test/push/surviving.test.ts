import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { startReplica } from '../support/replicas.ts';
import { type PushSite, startPushSite, tell } from './scene.ts';

/* Pushes that wait while something else happens. Replicas send one at a time here. */

let push: PushSite;
beforeAll(async () => {
  push = await startPushSite({ APP_PUSH_CONCURRENCY: '1' }, { alone: true });
});
afterEach(() => push.site.closeStreams());
afterAll(() => push.stop());

/** Starts a push to another account, which keeps the replica busy until `release` is called. */
async function occupy(): Promise<{ release: () => void }> {
  const [laptop, phone] = await push.site.enrol('Laptop', 'Phone');
  const { sent, answer } = push.hold(await push.subscribe(phone), { status: 201 });
  await tell(laptop, phone, push.site.one);
  await sent;
  return { release: answer };
}

// Proves G26.
test('what is acknowledged before its push was sent is not pushed', async () => {
  const { site, service } = push;
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const subscription = await push.subscribe(phone);
  const { release } = await occupy();
  const { message_id: id, to } = await tell(laptop, phone, site.one);
  expect(to).toMatchObject([{ pushed: true }]);
  await phone.on(site.one).call('ackMessages', { body: { message_ids: [id] } });
  release();
  await push.settled(phone);
  const { message_id: next } = await tell(laptop, phone, site.one);
  expect(await service.received(1, subscription)).toMatchObject([{ payload: { count: 1, id: next } }]);
});

// Proves G26.
test('an offer that is accepted before its push was sent is not pushed', async () => {
  const { site, service } = push;
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const subscription = await push.subscribe(phone);
  const { release } = await occupy();
  const body = { to_device_id: phone.id, files: [{ name: 'a.txt', size: 1 }] };
  const { transfer_id } = (await laptop.on(site.one).call('initTransfer', { body })).body.transfer;
  await phone.on(site.one).call('acceptTransfer', { params: { transfer_id } });
  release();
  await push.settled(phone);
  await tell(laptop, phone, site.one);
  expect(await service.received(1, subscription)).toMatchObject([{ payload: { type: 'message' } }]);
});

test('two messages that wait become one push', async () => {
  const { site, service } = push;
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const subscription = await push.subscribe(phone);
  const { release } = await occupy();
  await tell(laptop, phone, site.one);
  const { message_id: id } = await tell(laptop, phone, site.one);
  release();
  await push.settled(phone);
  expect(await service.received(1, subscription)).toMatchObject([{ payload: { count: 2, id } }]);
});

test('an offer to a stream whose replica has just died is pushed when that is known', async () => {
  const { service, env, site } = push;
  const [redisUrl, keyPrefix] = [sharedRedisUrl(), randomPrefix()];
  const [doomed, other] = await Promise.all([1, 2].map(() => startReplica({ redisUrl, keyPrefix, env })));
  if (!doomed || !other) throw new Error('no replicas');
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  for (const device of [laptop, phone]) await device.on(other).call('getMe');
  const subscription = await push.subscribe(phone, { on: other });
  await site.listen(phone, doomed).next('ready');
  await doomed.kill();
  const body = { to_device_id: phone.id, files: [{ name: 'a.txt', size: 1 }] };
  const { transfer_id: id } = (await laptop.on(other).call('initTransfer', { body })).body.transfer;
  expect(await service.received(1, subscription)).toMatchObject([{ payload: { type: 'transfer', count: 1, id } }]);
});

// Proves G26.
test('a replica that is killed between accepting a message and sending its push loses no push', async () => {
  const { service, env } = push;
  const [redisUrl, keyPrefix] = [sharedRedisUrl(), randomPrefix()];
  const [doomed, other] = await Promise.all([1, 2].map(() => startReplica({ redisUrl, keyPrefix, env })));
  if (!doomed || !other) throw new Error('no replicas');
  const [laptop, phone] = await push.site.enrol('Laptop', 'Phone');
  const [busy, quiet] = await push.site.enrol('Laptop', 'Phone');
  for (const device of [laptop, phone, busy, quiet]) await device.on(other).call('getMe');
  const subscription = await push.subscribe(phone, { on: doomed });
  const silent = await push.subscribe(quiet, { on: doomed });
  service.scriptOf(silent).next({ manner: 'silent' });
  await tell(busy, quiet, doomed);
  await service.received(1, silent);
  const { message_id: id } = await tell(laptop, phone, doomed);
  await doomed.kill();
  expect(await service.received(1, subscription)).toMatchObject([{ payload: { count: 1, id }, status: 201 }]);
  // The push that was under way is not lost either: it comes once its lease is over.
  expect((await service.received(2, silent))[1]).toMatchObject({ status: 201 });
});
