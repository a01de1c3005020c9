import { randomUUID } from 'node:crypto';
import type { PushSubscription } from '../../shared/contract/modules/push.ts';
import type { TestDevice } from '../support/device.ts';
import { type PushSite, startPushSite, tell } from './scene.ts';

/* What a replica does with each kind of answer of a push service. */

let push: PushSite;
beforeAll(async () => {
  push = await startPushSite();
});
afterEach(() => push.site.closeStreams());
afterAll(() => push.stop());

const listOf = async (device: TestDevice): Promise<PushSubscription[]> =>
  (await device.on(push.site.two).call('listPushSubscriptions')).body.subscriptions;

/** Resolves when the replica has noted that a message of the one device to the other has to be pushed again. */
async function putOff(laptop: TestDevice, phone: TestDevice): Promise<void> {
  const [key, job] = [`${push.site.prefix}:{${phone.user}}:push`, `j:push:web:message:${phone.id}:${laptop.id}`];
  const attempts = async () => (await push.site.redis.hget(key, job))?.split('\n')[2];
  while ((await attempts()) === '0') await new Promise((resolve) => setTimeout(resolve, 20));
}

async function makePair() {
  const [laptop, phone] = await push.site.enrol('Laptop', 'Phone');
  return { laptop, phone, subscription: await push.subscribe(phone) };
}

test.each([404, 410])('%i: the subscription is over, and is deleted', async (status) => {
  const { laptop, phone, subscription } = await makePair();
  push.service.scriptOf(subscription).next(status);
  await tell(laptop, phone, push.site.one);
  await push.settled(phone);
  expect(await listOf(phone)).toEqual([]);
  expect((await tell(laptop, phone, push.site.one)).to).toMatchObject([{ pushed: false }]);
  expect(await push.service.received(1, subscription)).toHaveLength(1);
});

test('410 for what was renewed while the push was under way deletes nothing, and the push goes to the new one', async () => {
  const { laptop, phone, subscription } = await makePair();
  const { sent, answer } = push.hold(subscription, { status: 410 });
  await tell(laptop, phone, push.site.one);
  await sent;
  const renewed = await push.subscribe(phone);
  answer();
  expect(await push.service.received(1, subscription)).toMatchObject([{ status: 410 }]);
  expect(await push.service.received(1, renewed)).toMatchObject([{ status: 201 }]);
  await push.settled(phone);
  expect(await listOf(phone)).toMatchObject([{ state: 'active', last_ok_at: expect.any(Number) }]);
});

test('410 for an endpoint that the browser sent again meanwhile deletes nothing', async () => {
  const { laptop, phone, subscription } = await makePair();
  const { sent, answer } = push.hold(subscription, { status: 410 });
  await tell(laptop, phone, push.site.one);
  await sent;
  await push.subscribe(phone, { again: subscription, on: push.site.two });
  answer();
  await push.service.received(2, subscription);
  await push.settled(phone);
  expect(await listOf(phone)).toMatchObject([{ state: 'active', last_ok_at: expect.any(Number) }]);
});

test.each([400, 403])(
  '%i for what was renewed while the push was under way: the push goes to the new one',
  async (status) => {
    const { laptop, phone, subscription } = await makePair();
    const { sent, answer } = push.hold(subscription, { status });
    await tell(laptop, phone, push.site.one);
    await sent;
    const renewed = await push.subscribe(phone);
    answer();
    expect(await push.service.received(1, subscription)).toMatchObject([{ status }]);
    expect(await push.service.received(1, renewed)).toMatchObject([{ status: 201, payload: { count: 1 } }]);
    await push.settled(phone);
    expect(await listOf(phone)).toMatchObject([{ state: 'active', last_ok_at: expect.any(Number) }]);
  },
);

test.each(['before', 'after'])(
  'a push put off for hours goes to what the device renewed %s that was said',
  async (when) => {
    const { laptop, phone, subscription } = await makePair();
    const { sent, answer } = push.hold(subscription, { status: 429, headers: { 'retry-after': '72000' } });
    await tell(laptop, phone, push.site.one);
    await sent;
    const early = when === 'before' ? await push.subscribe(phone) : null;
    answer();
    if (when === 'after') await putOff(laptop, phone);
    const renewed = early ?? (await push.subscribe(phone));
    expect(await push.service.received(1, renewed)).toMatchObject([{ status: 201, payload: { count: 1 } }]);
  },
);

test('a push service that refuses all of us deletes nobody’s subscription; they rest until they come again', async () => {
  const pairs = [];
  for (let i = 0; i < 6; i++) pairs.push(await makePair());
  for (const [i, { subscription }] of pairs.entries())
    push.service.scriptOf(subscription).next([403, 401, 400][i % 3] ?? 0);
  for (const { laptop, phone } of pairs) await tell(laptop, phone, push.site.one);
  for (const { phone } of pairs) await push.settled(phone);
  for (const { laptop, phone, subscription } of pairs) {
    expect(await listOf(phone)).toMatchObject([{ state: 'suspended' }]);
    expect((await tell(laptop, phone, push.site.two)).to).toMatchObject([{ pushed: false }]);
    expect(await push.service.received(1, subscription)).toHaveLength(1);
  }
  const { laptop, phone, subscription } = pairs[0] as (typeof pairs)[number];
  await push.subscribe(phone, { again: subscription });
  expect(await listOf(phone)).toMatchObject([{ state: 'active' }]);
  await tell(laptop, phone, push.site.two);
  expect((await push.service.received(2, subscription))[1]).toMatchObject({ status: 201, payload: { count: 3 } });
});

test('429 for longer than the push is worth: it is given up, and counted', async () => {
  const { laptop, phone, subscription } = await makePair();
  const { site, service } = push;
  const given = async (): Promise<number> => {
    const texts = await Promise.all(
      [site.one, site.two].map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
    );
    const line = /^baton_push_dead_letters_total\{platform="web",reason="expired"\} (\d+)/m;
    return texts.reduce((sum, text) => sum + Number(line.exec(text)?.[1] ?? 0), 0);
  };
  service.scriptOf(subscription).next({ status: 429, headers: { 'retry-after': '90000' } });
  await tell(laptop, phone, site.one);
  await push.settled(phone);
  expect(await given()).toBe(1);
  expect(await service.received(1, subscription)).toHaveLength(1);
  expect(await listOf(phone)).toMatchObject([{ state: 'active' }]);
});

test('429: tried again when the push service said, and not earlier', async () => {
  const { laptop, phone, subscription } = await makePair();
  push.service.scriptOf(subscription).next({ status: 429, headers: { 'retry-after': '6' } });
  await tell(laptop, phone, push.site.one);
  await push.service.received(1, subscription);
  await putOff(laptop, phone);
  // More messages of the same kind do not bring it forward.
  await tell(laptop, phone, push.site.two);
  const [first, second, ...more] = await push.service.received(2, subscription);
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(5_900);
  expect(second).toMatchObject({ status: 201, payload: { count: 2 }, topic: first?.topic });
  expect(more).toEqual([]);
});

test.each([
  ['what comes from others meanwhile, however much, does not keep a message from being tried again', false],
  ['nor does that where a later one of the same sender was acknowledged', true],
])('%s', async (_, isLaterAcknowledged) => {
  const [laptop, phone, tablet] = await push.site.enrol('Laptop', 'Phone', 'Tablet');
  const subscription = await push.subscribe(phone);
  push.service.scriptOf(subscription).next({ status: 429, headers: { 'retry-after': '5' } });
  const { message_id: id } = await tell(laptop, phone, push.site.one);
  await push.service.received(1, subscription);
  if (isLaterAcknowledged) {
    await putOff(laptop, phone);
    const { message_id: later } = await tell(laptop, phone, push.site.two);
    await phone.on(push.site.one).call('ackMessages', { body: { message_ids: [later] } });
  }
  await Promise.all(Array.from({ length: 120 }, () => tell(tablet, phone, push.site.two)));
  await push.settled(phone);
  const payloads = push.service.held(subscription).map(({ payload }) => payload);
  expect(payloads).toContainEqual({ v: 1, type: 'message', count: 1, id });
  expect(payloads).toContainEqual(expect.objectContaining({ type: 'message', count: 100 }));
});

test('offers that its sender made since, however many, do not keep an offer from being tried again', async () => {
  const { laptop, phone, subscription } = await makePair();
  push.service.scriptOf(subscription).next({ status: 429, headers: { 'retry-after': '3' } });
  const body = { to_device_id: phone.id, files: [{ name: 'a.txt', size: 1 }] };
  const { transfer_id: id } = (await laptop.on(push.site.one).call('initTransfer', { body })).body.transfer;
  await push.service.received(1, subscription);
  // Ended offers stay in its list for a day.
  const ended = Array.from({ length: 250 }, (_, i) => ['0', `${laptop.id} all ${Date.now() + i}-${randomUUID()}`]);
  await push.site.redis.zadd(`${push.site.prefix}:{${laptop.user}}:offers`, ...ended.flat());
  await push.settled(phone);
  expect((await push.service.received(2, subscription))[1]).toMatchObject({
    status: 201,
    payload: { type: 'transfer', count: 1, id },
  });
});

test('503: tried again by and by', async () => {
  const { laptop, phone, subscription } = await makePair();
  push.service.scriptOf(subscription).next(503);
  await tell(laptop, phone, push.site.one);
  expect((await push.service.received(2, subscription))[1]).toMatchObject({ status: 201 });
  expect(await listOf(phone)).toMatchObject([{ state: 'active' }]);
});

test('413: this push is given up, and the next one is sent', async () => {
  const { laptop, phone, subscription } = await makePair();
  push.service.scriptOf(subscription).next(413);
  await tell(laptop, phone, push.site.one);
  await push.settled(phone);
  expect(await listOf(phone)).toMatchObject([{ state: 'active' }]);
  await tell(laptop, phone, push.site.one);
  expect((await push.service.received(2, subscription))[1]).toMatchObject({ status: 201 });
});
