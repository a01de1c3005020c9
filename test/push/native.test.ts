import type { RegisterNativePush } from '../../shared/contract/modules/push.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { apnsError } from '../support/fake-push/apns.ts';
import { expectProblem, request } from '../support/wire.ts';
import { type PushSite, startPushSite, tell } from './scene.ts';

let push: PushSite;
beforeAll(async () => {
  push = await startPushSite({}, { native: true });
});
afterAll(() => push.stop());

const APNS_TOKEN = 'a1b2c3d4'.repeat(8);

const register = (device: TestDevice, body: RegisterNativePush) =>
  device.on(push.site.two).call('registerNativePush', { body });
const listOf = async (device: TestDevice) =>
  (await device.on(push.site.one).call('listPushSubscriptions')).body.subscriptions;

test('applications are told which platforms they can register with', async () => {
  const device = makeDevice({ user: randomUser() });
  expect((await device.on(push.site.one).call('getPushConfig')).body.native).toEqual(['fcm', 'apns']);
  expect((await device.on(push.site.one).call('getMe')).body.features).toMatchObject({
    web_push: true,
    native_push: true,
  });
});

test('a device is woken on each of its platforms, and neither Google nor Apple learns more than how many', async () => {
  const { site, fcm, apns } = push;
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  expect((await register(phone, { platform: 'fcm', token: 'token:of-phone' })).body).toMatchObject({ platform: 'fcm' });
  await register(phone, { platform: 'apns', token: APNS_TOKEN, environment: 'sandbox' });
  expect(await site.redis.hget(`${site.prefix}:{${phone.user}}:push`, `r:apns:${phone.id}`)).toContain('"sandbox"');
  expect((await listOf(laptop)).map(({ platform }) => platform).sort()).toEqual(['apns', 'fcm']);
  const { message_id: id, to } = await tell(laptop, phone, site.one);
  expect(to).toMatchObject([{ pushed: true }]);
  const message = (await fcm.received(1))[0];
  expect(message?.data).toEqual({ v: '1', type: 'message', count: '1', id });
  const notification = (await apns.received(1))[0];
  expect(JSON.stringify(notification)).toContain(id);
  for (const text of [...fcm.bodies, JSON.stringify(apns.notifications)]) {
    expect(text).not.toMatch(/secret text|Laptop|Phone/);
  }
  expect([...fcm.complaints, ...apns.complaints]).toEqual([]);
});

test('an application that was removed is forgotten, and the others of the device are not', async () => {
  const { site, fcm } = push;
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const [token, other] = ['token:removed', 'd4c3b2a1'.repeat(8)];
  await register(phone, { platform: 'fcm', token });
  await register(phone, { platform: 'apns', token: other });
  fcm.unregister(token);
  await tell(laptop, phone, site.one);
  await push.settled(phone);
  expect(await listOf(phone)).toMatchObject([{ platform: 'apns', state: 'active' }]);
});

test('an application that Apple says is gone is forgotten, unless it has registered since Apple found that out', async () => {
  const { site, apns } = push;
  const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
  const [token, removed] = ['e5f6'.repeat(16), 'f6e5'.repeat(16)];
  await register(phone, { platform: 'apns', token });
  await register(tablet, { platform: 'apns', token: removed });
  apns.script.next(apnsError(410, 'Unregistered', { timestamp: Date.now() - 60_000 }));
  await tell(laptop, phone, site.one);
  await push.settled(phone);
  expect(await listOf(phone)).toMatchObject([
    { device_id: phone.id, state: 'active', last_ok_at: expect.any(Number) },
    { device_id: tablet.id },
  ]);
  // The time is Apple's. It is a second ahead, so that it does not lie before the registration by the replica's clock.
  apns.script.next(apnsError(410, 'Unregistered', { timestamp: Date.now() + 1_000 }));
  await tell(laptop, tablet, site.one);
  await push.settled(tablet);
  expect(await listOf(phone)).toMatchObject([{ device_id: phone.id }]);
});

test('the token of another account moves here', async () => {
  const [phone] = await push.site.enrol('Phone');
  const [tablet] = await push.site.enrol('Tablet');
  for (const device of [phone, tablet]) await register(device, { platform: 'fcm', token: 'token:moves' });
  expect(await listOf(phone)).toEqual([]);
  expect(await listOf(tablet)).toHaveLength(1);
});

test.each([
  ['/body', {}],
  ['/body/platform', { platform: 'web', token: 'x' }],
  ['/body/token', { platform: 'fcm', token: '' }],
  ['/body/token', { platform: 'fcm', token: 'a b' }],
  ['/body/token', { platform: 'fcm', token: 'x'.repeat(4_097) }],
  ['/body/token', { platform: 'apns', token: 'not hexadecimal' }],
  ['/body/token', { platform: 'apns', token: 'zz'.repeat(32) }],
  ['/body/environment', { platform: 'apns', token: APNS_TOKEN, environment: 'moon' }],
])('a wrong %s is refused by name', async (path, body) => {
  const { headers } = makeDevice({ user: randomUser() });
  const answer = await request(push.site.one, { method: 'POST', path: '/api/push/native/register', headers, body });
  const { errors } = expectProblem(answer, 'invalid_request');
  expect(errors?.map((error) => error.path)).toContainEqual(expect.stringMatching(new RegExp(`^${path}`)));
});
