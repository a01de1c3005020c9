import { createECDH, randomBytes } from 'node:crypto';
import { makeVapidKeys } from '../../services/sync/push/senders/web-push/vapid.ts';
import type { PushSubscription } from '../../shared/contract/modules/push.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { keysUnder, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { startReplica } from '../support/replicas.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { expectProblem, request } from '../support/wire.ts';
import { type PushSite, startPushSite, tell } from './scene.ts';

let push: PushSite;
beforeAll(async () => {
  push = await startPushSite({ APP_RATE_LIMIT_SCALE: '1' });
});
afterEach(() => push.site.closeStreams());
afterAll(() => push.stop());

const listOf = async (device: TestDevice): Promise<PushSubscription[]> =>
  (await device.on(push.site.two).call('listPushSubscriptions')).body.subscriptions;

const post = (device: TestDevice, path: string, body: unknown) =>
  request(push.site.one, { method: 'POST', path, headers: device.headers, body });

const goodKeys = () => ({
  p256dh: createECDH('prime256v1').generateKeys('base64url'),
  auth: randomBytes(16).toString('base64url'),
});
const goodEndpoint = () => `${push.service.url}/push/${randomBytes(8).toString('hex')}`;

test('a topic tells the push service of another installation nothing: the same devices have another one there', async () => {
  const { env, service, site } = push;
  const elsewhere = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix(), env });
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  for (const device of [laptop, phone]) await device.on(elsewhere).call('getMe');
  const topics = [];
  for (const replica of [site.one, site.two, elsewhere]) {
    const subscription = await push.subscribe(phone, { on: replica });
    await tell(laptop, phone, replica);
    topics.push((await service.received(1, subscription))[0]?.topic);
  }
  expect(topics[1]).toBe(topics[0]);
  expect(topics[2]).not.toBe(topics[0]);
});

describe('a subscription', () => {
  test('is listed without its secrets, with when a push last went through', async () => {
    const [laptop, phone] = await push.site.enrol('Laptop', 'Phone');
    const subscription = await push.subscribe(phone);
    const [listed] = await listOf(laptop);
    expect(listed).toEqual({
      subscription_id: expect.any(String),
      device_id: phone.id,
      platform: 'web',
      state: 'active',
      created_at: expect.any(Number),
      last_ok_at: null,
    });
    await tell(laptop, phone, push.site.one);
    await push.service.received(1, subscription);
    await push.settled(phone);
    expect((await listOf(laptop))[0]).toEqual({ ...listed, last_ok_at: expect.any(Number) });
  });

  test('is one for each device: another one takes its place, the same again keeps its id', async () => {
    const [laptop, phone] = await push.site.enrol('Laptop', 'Phone');
    const first = await push.subscribe(phone);
    const [before] = await listOf(phone);
    await push.subscribe(phone, { again: first, on: push.site.two });
    expect(await listOf(phone)).toEqual([before]);
    const second = await push.subscribe(phone);
    const after = await listOf(phone);
    expect(after).toHaveLength(1);
    expect(after[0]?.subscription_id).not.toBe(before?.subscription_id);
    await tell(laptop, phone, push.site.one);
    await push.service.received(1, second);
    expect(push.service.held(first)).toEqual([]);
  });

  test('leaves the account that had it when another one subscribes in the same browser', async () => {
    const [laptop, phone] = await push.site.enrol('Laptop', 'Phone');
    const [other, tablet] = await push.site.enrol('Other', 'Tablet');
    const subscription = await push.subscribe(phone);
    await push.subscribe(tablet, { again: subscription, on: push.site.two });
    expect(await listOf(laptop)).toEqual([]);
    expect((await tell(laptop, phone, push.site.one)).to).toMatchObject([{ pushed: false }]);
    const { message_id: id } = await tell(other, tablet, push.site.one);
    const [got] = await push.service.received(1, subscription);
    expect(got?.payload).toMatchObject({ id });
  });

  test('leaves the device that had it when another of the account has the same browser', async () => {
    const [phone, tablet] = await push.site.enrol('Phone', 'Tablet');
    const subscription = await push.subscribe(phone);
    await push.subscribe(tablet, { again: subscription });
    expect(await listOf(phone)).toMatchObject([{ device_id: tablet.id }]);
  });

  test('that was taken over is sent nothing more, also when the replica died before it could tell the account', async () => {
    const { site, service } = push;
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const [, tablet] = await site.enrol('Other', 'Tablet');
    const subscription = await push.subscribe(phone);
    const account = `${site.prefix}:{${phone.user}}:push`;
    const stale = await site.redis.hgetall(account);
    await push.subscribe(tablet, { again: subscription });
    // The state is as if only the first of the two writes had happened.
    await site.redis.hset(account, stale);
    expect(await listOf(laptop)).toHaveLength(1);
    await tell(laptop, phone, site.one);
    await push.settled(phone);
    expect(service.held(subscription)).toEqual([]);
    expect(await listOf(laptop)).toEqual([]);
    expect(await listOf(tablet)).toHaveLength(1);
  });

  test('goes with its device, and nothing of it is left', async () => {
    const { site } = push;
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const { endpoint } = await push.subscribe(phone);
    await laptop.on(site.two).call('removeDevice', { params: { device_id: phone.id } });
    expect(await listOf(laptop)).toEqual([]);
    expect(await keysHolding(site.redis, site.prefix, endpoint)).toEqual([]);
    expect(await keysHolding(site.redis, site.prefix, `\n${phone.user}\n`)).toEqual([]);
  });

  test('goes with the data of its account', async () => {
    const { site } = push;
    const [laptop] = await site.enrol('Laptop');
    await push.subscribe(laptop);
    await laptop.on(site.two).call('eraseAccount');
    const left = await keysUnder(site.redis, site.prefix);
    expect(left.filter((key) => key.endsWith(`{${laptop.user}}:push`))).toEqual([]);
    expect(await keysHolding(site.redis, site.prefix, `\n${laptop.user}\n`)).toEqual([]);
  });

  test('can be removed by any device of the account', async () => {
    const [laptop, phone] = await push.site.enrol('Laptop', 'Phone');
    await push.subscribe(phone);
    const [{ subscription_id } = { subscription_id: '' }] = await listOf(laptop);
    const params = { subscription_id };
    expect((await laptop.on(push.site.one).call('removePushSubscription', { params })).status).toBe(204);
    expect(await listOf(phone)).toEqual([]);
    expect((await tell(laptop, phone, push.site.one)).to).toMatchObject([{ pushed: false }]);
  });

  test('of an account is nobody else’s to see or to remove', async () => {
    const [phone] = await push.site.enrol('Phone');
    await push.subscribe(phone);
    const [{ subscription_id: id } = { subscription_id: '' }] = await listOf(phone);
    const stranger = makeDevice({ user: randomUser() });
    expect(await listOf(stranger)).toEqual([]);
    const path = `/api/push/subscriptions/${id}`;
    expectProblem(await request(push.site.one, { method: 'DELETE', path, headers: stranger.headers }), 'not_found');
    expect(await listOf(phone)).toHaveLength(1);
  });

  test('of another device is none of a guest’s business', async () => {
    const [phone] = await push.site.enrol('Phone');
    const guest = makeDevice({ user: phone.user, name: 'Guest', scope: 'guest' });
    await push.subscribe(phone);
    await push.subscribe(guest);
    expect(await listOf(guest)).toMatchObject([{ device_id: guest.id }]);
    const all = await listOf(phone);
    const idOf = (device: TestDevice) => all.find((each) => each.device_id === device.id)?.subscription_id ?? '';
    const remove = (id: string) =>
      request(push.site.one, { method: 'DELETE', path: `/api/push/subscriptions/${id}`, headers: guest.headers });
    expectProblem(await remove(idOf(phone)), 'not_found');
    expect((await remove(idOf(guest))).status).toBe(204);
    expect(await listOf(phone)).toMatchObject([{ device_id: phone.id }]);
  });
});

describe('subscribing', () => {
  test.each([
    ['of no push service', 'https://push.example.com/x'],
    ['without TLS', 'http://fcm.googleapis.com/fcm/send/x'],
    ['of this machine', 'https://127.0.0.1:1/x'],
    ['with user info', 'https://a:b@fcm.googleapis.com/x'],
    ['that is no address', 'fcm.googleapis.com/x'],
  ])('to an endpoint %s is refused', async (_, endpoint) => {
    const device = makeDevice({ user: randomUser() });
    const answer = await post(device, '/api/push/subscribe', { endpoint, keys: goodKeys() });
    expectProblem(answer, 'endpoint_not_allowed');
    expect(await listOf(device)).toEqual([]);
  });

  const offCurve = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
  test.each([
    ['a point that is not on the curve', { p256dh: offCurve }],
    ['a point that is too short', { p256dh: randomBytes(33).toString('base64url') }],
    ['no point', { p256dh: '' }],
    ['15 bytes of auth', { auth: randomBytes(15).toString('base64url') }],
    ['17 bytes of auth', { auth: randomBytes(17).toString('base64url') }],
    ['auth in another alphabet', { auth: '!'.repeat(22) }],
  ])('with %s is refused', async (_, wrong) => {
    const device = makeDevice({ user: randomUser() });
    const keys = { ...goodKeys(), ...wrong };
    const { errors } = expectProblem(
      await post(device, '/api/push/subscribe', { endpoint: goodEndpoint(), keys }),
      'invalid_request',
    );
    expect(errors).toEqual([{ path: '/body/keys', message: expect.any(String) }]);
    expect(await listOf(device)).toEqual([]);
  });

  test.each([
    ['/body', {}],
    ['/body/endpoint', { endpoint: 1, keys: goodKeys() }],
    ['/body/endpoint', { endpoint: `https://fcm.googleapis.com/${'x'.repeat(1_024)}`, keys: goodKeys() }],
    ['/body/keys', { endpoint: 'https://fcm.googleapis.com/x', keys: 'x' }],
    ['/body/keys', { endpoint: 'https://fcm.googleapis.com/x', keys: {} }],
    ['/body/preview', { endpoint: 'https://fcm.googleapis.com/x', keys: goodKeys(), preview: 'all' }],
  ])('with a wrong %s is refused by name', async (path, body) => {
    const { errors } = expectProblem(
      await post(makeDevice({ user: randomUser() }), '/api/push/subscribe', body),
      'invalid_request',
    );
    expect(errors?.map((error) => error.path)).toContainEqual(expect.stringMatching(new RegExp(`^${path}`)));
  });

  test('with a key that is not ours is refused by name', async () => {
    const body = { endpoint: goodEndpoint(), keys: goodKeys(), vapid_key_id: 'another' };
    const answer = await post(makeDevice({ user: randomUser() }), '/api/push/subscribe', body);
    expect(expectProblem(answer, 'invalid_request').errors).toMatchObject([{ path: '/body/vapid_key_id' }]);
  });

  test('is allowed twenty times an hour', async () => {
    const device = makeDevice({ user: randomUser() });
    const body = { endpoint: goodEndpoint(), keys: goodKeys() };
    for (let i = 0; i < 20; i++) expect((await post(device, '/api/push/subscribe', body)).status).toBe(201);
    const refused = await post(device, '/api/push/subscribe', body);
    expectProblem(refused, 'rate_limited');
    expect(refused.headers['ratelimit-policy']).toBe('"push"; q=20; w=3600');
  });

  test('of native applications is refused where nobody carries their pushes', async () => {
    const answer = await post(makeDevice({ user: randomUser() }), '/api/push/native/register', {
      platform: 'fcm',
      token: 'token',
    });
    expectProblem(answer, 'feature_disabled');
  });
});

describe('a rotated key', () => {
  /** Makes an installation of its own, whose replicas have these keys, with three devices of one account. */
  async function makeScene() {
    const keyPrefix = randomPrefix();
    const user = randomUser();
    const [before, after] = [makeVapidKeys(), makeVapidKeys()];
    const start = (keys: { publicKey: string; privateKey: string }[]) =>
      startReplica({
        ...{ redisUrl: sharedRedisUrl(), keyPrefix },
        env: {
          ...push.env,
          APP_VAPID_PUBLIC_KEY: keys.map(({ publicKey }) => publicKey).join(),
          APP_VAPID_PRIVATE_KEY: keys.map(({ privateKey }) => privateKey).join(),
        },
      });
    const [laptop, phone, tablet] = ['Laptop', 'Phone', 'Tablet'].map((name) => makeDevice({ user, name }));
    if (!laptop || !phone || !tablet) throw new Error('no devices');
    const old = await start([before]);
    for (const device of [laptop, phone, tablet]) await device.on(old).call('getMe');
    return { before, after, start, old, laptop, phone, tablet };
  }

  test('goes on signing for the subscriptions that were made with it, and new ones get the new key', async () => {
    const { service } = push;
    const { before, after, start, old, laptop, phone, tablet } = await makeScene();
    const subscription = await push.subscribe(phone, { on: old });
    await old.stop();
    const rotated = await start([after, before]);
    const { vapid_public_key } = (await tablet.on(rotated).call('getPushConfig')).body;
    expect(vapid_public_key).toBe(after.publicKey);
    const newer = await push.subscribe(tablet, { on: rotated });
    // The same browser comes back with its earlier subscription.
    await push.subscribe(phone, { again: subscription, on: rotated });
    await tell(laptop, phone, rotated);
    await tell(laptop, tablet, rotated);
    expect(await service.received(1, subscription)).toMatchObject([{ status: 201, vapidKey: before.publicKey }]);
    expect(await service.received(1, newer)).toMatchObject([{ status: 201, vapidKey: after.publicKey }]);
  });

  test('loses no push while some replicas do not have the new key yet', async () => {
    const { service } = push;
    const { before, after, start, old, laptop, tablet } = await makeScene();
    const rotated = await start([after, before]);
    const newer = await push.subscribe(tablet, { on: rotated });
    // Only the old replica serves, so it takes the push.
    await rotated.stop();
    const { message_id: id } = await tell(laptop, tablet, old);
    const metrics = async () => (await fetch(`${old.adminUrl}/metrics`)).text();
    const isLeft = (text: string) => /^baton_push_retries_total\{.*reason="key_unknown"\} 1$/m.test(text);
    await until(metrics, isLeft, 'the old replica leaves the push to others');
    await old.stop();
    const next = await start([after, before]);
    expect(await service.received(1, newer)).toMatchObject([{ status: 201, payload: { id } }]);
    const [listed] = (await tablet.on(next).call('listPushSubscriptions')).body.subscriptions;
    expect(listed).toMatchObject({ state: 'active' });
  });
});

describe('an installation without push', () => {
  test('says so, and serves none of it', async () => {
    const { site } = push;
    const off = await startReplica({
      redisUrl: sharedRedisUrl(),
      keyPrefix: site.prefix,
      env: { APP_PUSH_ENABLED: 'false' },
    });
    const device = makeDevice({ user: randomUser() });
    expect((await device.on(off).call('getMe')).body.features).toMatchObject({ web_push: false, native_push: false });
    expect((await device.on(site.one).call('getMe')).body.features).toMatchObject({
      web_push: true,
      native_push: false,
    });
    const id = '01920000-0000-7000-8000-000000000002';
    for (const [method, path, body] of [
      ['GET', '/api/push/config'],
      ['POST', '/api/push/subscribe', { endpoint: goodEndpoint(), keys: goodKeys() }],
      ['POST', '/api/push/native/register', { platform: 'apns', token: 'ab'.repeat(32) }],
      ['GET', '/api/push/subscriptions'],
      ['DELETE', `/api/push/subscriptions/${id}`],
      ['POST', '/api/push/test'],
    ] as const) {
      const answer = await request(off, { method, path, headers: device.headers, ...(body && { body }) });
      expectProblem(answer, 'feature_disabled');
    }
  });
});
