import { makeVapidKeys } from '../../services/sync/push/senders/web-push/vapid.ts';
import type { TestDevice } from '../support/device.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type PushSite, startPushSite, tell } from './scene.ts';

/*
 * Pushes that the replica has no settings for, and what counts as a try of them. The tests write the earlier tries into
 * the store, because they take a quarter of an hour.
 */

let push: PushSite;
beforeAll(async () => {
  push = await startPushSite({}, { alone: true });
});
afterEach(() => push.site.closeStreams());
afterAll(() => push.stop());

const storedAt = ({ user }: TestDevice) => `${push.site.prefix}:{${user}}:push`;
const messageJob = (from: TestDevice, to: TestDevice) => `j:push:web:message:${to.id}:${from.id}`;

/** Writes a due push, as if it had been tried this often. */
const haveTried = (device: TestDevice, job: string, attempts: string) =>
  push.site.redis.hset(storedAt(device), job, ['before', Date.now(), attempts, 0].join('\n'));

/** Resolves to the fields of the push once its attempts have this value. */
async function whenTried(device: TestDevice, job: string, attempts: string): Promise<string[]> {
  const stored = async () => (await push.site.redis.hget(storedAt(device), job)) ?? '';
  return (await until(stored, (text) => text.split('\n')[2] === attempts, `attempts ${attempts}`)).split('\n');
}

const stateOf = async (device: TestDevice) =>
  (await device.on(push.site.one).call('listPushSubscriptions')).body.subscriptions[0]?.state;

async function makePair() {
  const [laptop, phone] = await push.site.enrol('Laptop', 'Phone');
  return { laptop, phone, subscription: await push.subscribe(phone), job: messageJob(laptop, phone) };
}

/** Makes a pair whose phone has subscribed with a key that the replica no longer has. */
async function makePairOfOldKey() {
  const pair = await makePair();
  const field = `r:web:${pair.phone.id}`;
  const stored = (await push.site.redis.hget(storedAt(pair.phone), field)) ?? '';
  const withKey = stored.replace(/"keyId":"[^"]*"/, `"keyId":"${makeVapidKeys().publicKey.slice(0, 16)}"`);
  await push.site.redis.hset(storedAt(pair.phone), field, withKey);
  return pair;
}

describe('a push whose key this replica does not have', () => {
  test('is left to the others after an outage of its push service, however many tries that took', async () => {
    const { laptop, phone, job } = await makePairOfOldKey();
    await haveTried(phone, job, '12');
    await tell(laptop, phone, push.site.one);
    // Older replicas read the attempts as a number, and expect four fields.
    expect(await whenTried(phone, job, '13.1')).toHaveLength(4);
    expect(await stateOf(phone)).toBe('active');
  });

  test('suspends the subscription when that went on for eight tries', async () => {
    const { laptop, phone, job } = await makePairOfOldKey();
    await haveTried(phone, job, '8.7');
    await tell(laptop, phone, push.site.one);
    await whenTried(phone, job, '9.8');
    await haveTried(phone, job, '9.8');
    await tell(laptop, phone, push.site.one);
    await push.settled(phone);
    expect(await stateOf(phone)).toBe('suspended');
  });

  test('suspends the subscription also when it is a test, whose time is over after fewer tries', async () => {
    const { phone } = await makePairOfOldKey();
    await haveTried(phone, `j:push:web:test:${phone.id}:`, '7.7');
    await phone.on(push.site.one).call('testPush');
    await push.settled(phone);
    expect(await stateOf(phone)).toBe('suspended');
  });
});

test('an answer of the push service ends the row of tries that were left to others', async () => {
  const { laptop, phone, subscription, job } = await makePair();
  push.service.scriptOf(subscription).next(503);
  await haveTried(phone, job, '3.3');
  await tell(laptop, phone, push.site.one);
  expect(await whenTried(phone, job, '4')).toHaveLength(4);
  expect(await stateOf(phone)).toBe('active');
});

test('what arrives while a push is under way has not been tried yet', async () => {
  const { laptop, phone, subscription, job } = await makePair();
  const { sent, answer } = push.hold(subscription, { status: 201 });
  await haveTried(phone, job, '5.5');
  await tell(laptop, phone, push.site.one);
  await sent;
  const next = push.hold(subscription, { status: 201 });
  await tell(laptop, phone, push.site.one);
  answer();
  await whenTried(phone, job, '0');
  next.answer();
  expect(await push.service.received(2, subscription)).toMatchObject([{ status: 201 }, { payload: { count: 2 } }]);
});

test('a push that is due has not been tried yet at a subscription that replaces the old one', async () => {
  const { phone, job } = await makePair();
  await haveTried(phone, job, '7.7');
  await push.subscribe(phone);
  expect(await whenTried(phone, job, '0')).toContain('before');
});
