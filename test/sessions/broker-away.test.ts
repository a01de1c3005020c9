import { eventually, OTHER_TOKEN } from '../broker/support/brokers.ts';
import { serviceOf } from '../broker/support/service.ts';
import { randomUser } from '../support/device.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type SignedIn, type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem } from '../support/wire.ts';

/*
 * Devices are signed out while the auth broker is away. No replica has seen their access tokens before. The replicas check the
 * tokens with the broker's keys, which they fetched at their start.
 */

let site: SignInSite;
/** A replica of another installation, which never reached the broker. */
let stranger: ReplicaProcess;
const user = randomUser();
const device = (device_name: string, more: object = {}) => site.signIn(user, { device_name, ...more });
const devices: Record<'laptop' | 'phone' | 'tablet' | 'guest' | 'gone' | 'late' | 'foreign', SignedIn> = {} as never;
let otherApp = '';

beforeAll(async () => {
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0' });
  devices.laptop = await device('Laptop');
  devices.phone = await device('Phone');
  devices.tablet = await device('Tablet');
  devices.guest = await device('Guest', { scope: 'guest', device_type: 'browser' });
  devices.gone = await device('Gone');
  devices.late = await device('Late');
  devices.foreign = await site.signIn(randomUser());
  const removing = { method: 'DELETE', path: `/api/auth/sessions/${devices.gone.deviceId}` };
  if ((await devices.laptop.ask(site.one, removing)).status !== 204) throw new Error('the device was not signed out');
  const other = serviceOf(site.broker, { app: 'other', token: OTHER_TOKEN });
  otherApp = (await other.mint({ subject: user, meta: devices.laptop.deviceId })).access_token;
  await site.broker.kill();
  stranger = await site.startReplica({ APP_KEY_PREFIX: randomPrefix() });
});
afterAll(() => site.stop());

const bearer = (token: string | undefined) => ({ Cookie: '', Authorization: `Bearer ${token}` });
const remove = (by: SignedIn, { deviceId }: SignedIn, { path = '/api/auth/sessions', headers = {} } = {}) =>
  by.ask(site.two, {
    ...{ method: 'DELETE', path: `${path}/${deviceId}` },
    headers: { ...bearer(by.answer?.access_token), ...headers },
  });

test('a cookie, which only the broker can vouch for, signs nothing out', async () => {
  const { laptop, phone } = devices;
  const byCookie = { method: 'DELETE', path: `/api/devices/${phone.deviceId}` };
  // The earlier answer about it expires after ten seconds, and the device was never shown here.
  expectProblem(await devices.late.ask(site.two, byCookie), 'broker_unavailable');
  expectProblem(
    await laptop.ask(site.two, { path: '/api/me', headers: { Cookie: devices.late.cookie } }),
    'broker_unavailable',
  );
});

test("a guest's token signs out itself alone", async () => {
  const { guest, phone } = devices;
  expectProblem(await remove(guest, phone), 'guest_forbidden');
  expectProblem(await remove(guest, phone, { path: '/api/devices' }), 'guest_forbidden');
  expect((await remove(guest, guest)).status).toBe(202);
  expectProblem(await remove(guest, guest), 'session_revoked');
});

test.each(['/api/auth/sessions', '/api/devices'])(
  "a signed-out device's token signs nothing out by %s",
  async (path) => {
    const { gone, phone } = devices;
    expectProblem(await remove(gone, phone, { path }), 'session_revoked');
    expectProblem(await remove(gone, gone, { path }), 'session_revoked');
  },
);

test('a token of another app of the broker signs nothing out', async () => {
  const { laptop, phone } = devices;
  expectProblem(await remove(laptop, phone, { headers: bearer(otherApp) }), 'unauthenticated');
});

test('no token signs out all others at once, or does anything else', async () => {
  const { laptop } = devices;
  const headers = bearer(laptop.answer?.access_token);
  const all = { method: 'DELETE', path: '/api/auth/sessions', headers };
  expectProblem(await laptop.ask(site.two, all), 'broker_unavailable');
  expectProblem(await laptop.ask(site.two, { path: '/api/devices', headers }), 'broker_unavailable');
});

test('a replica that never had the keys of the broker cannot tell whose token it is', async () => {
  const { laptop, phone } = devices;
  const headers = bearer(laptop.answer?.access_token);
  const asked = { method: 'DELETE', path: `/api/auth/sessions/${phone.deviceId}`, headers };
  expectProblem(await laptop.ask(stranger, asked), 'broker_unavailable');
});

test("a full device's token does nothing to a device of another account", async () => {
  const { laptop, foreign } = devices;
  expect((await remove(laptop, foreign)).status).toBe(202);
  // It is not refused as signed out: its own token can still end it.
  expect((await remove(foreign, foreign)).status).toBe(202);
});

test("a full device's token, never seen before, signs out the others, and the broker is told when it is back", async () => {
  const { laptop, phone, tablet } = devices;
  expect((await remove(laptop, phone)).status).toBe(202);
  expect((await remove(laptop, tablet, { path: '/api/devices' })).status).toBe(202);
  for (const out of [phone, tablet]) expectProblem(await remove(out, laptop), 'session_revoked');
  await site.restartBroker();
  await eventually('the broker has been told', async () => {
    const left = (await serviceOf(site.broker).list(user)).map(({ meta }) => meta);
    return [phone, tablet].some(({ deviceId }) => left.includes(deviceId)) ? null : true;
  });
});
