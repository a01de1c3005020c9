import type { IssuedSession } from '../../shared/contract/modules/broker.ts';
import { eventually } from '../broker/support/brokers.ts';
import { serviceOf } from '../broker/support/service.ts';
import { type BrokerDoor, startBrokerDoor } from '../support/sign-in/broker-door.ts';
import { randomUser } from '../support/device.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, type WireAnswer } from '../support/wire.ts';

/* A broker that answers late, wrongly or not at all. One replica reaches it through a door that the test controls. */

let site: SignInSite;
let door: BrokerDoor;
let behind: ReplicaProcess;
beforeAll(async () => {
  site = await startSignInSite();
  door = await startBrokerDoor(site.broker);
  behind = await site.startReplica({ APP_BROKER_URL: door.url });
});
afterEach(() => door.open());
afterAll(async () => {
  await site.stop();
  await door.stop();
});

const HTML = { status: 200, type: 'text/html', body: '<!doctype html><title>Welcome</title>' };
const DEVICE = '/api/auth/device-session';
const wanted = (deviceId: string) => ({
  ...{ method: 'POST', path: DEVICE },
  body: { device_id: deviceId, device_name: 'Laptop', device_type: 'browser' },
});
const changed = (fields: object) => async (real: () => Promise<WireAnswer>) => {
  const { status, body } = await real();
  return { status, body: { ...(body as object), ...fields } };
};

test.each([200, 201, 302, 404])('a page with status %i in place of a session signs nobody in', async (status) => {
  const login = await site.logIn();
  door.answer('POST /v1/sessions', async () => ({ ...HTML, status }));
  const answer = await login.ask(behind, wanted('laptop-0001'));

  expectProblem(answer, 'broker_contract');
  expect(answer.headers['set-cookie']).toBeUndefined();
});

test.each<[string, object]>([
  ['another user', { subject: 'mallory' }],
  ['another user’s name', { user: { user_id: 'mallory', name: 'Mallory' } }],
  ['another device', { meta: 'another-0001' }],
  ['another scope', { scope: 'guest' }],
  ['another lifetime', { persist: 'once' }],
  ['an unknown scope', { scope: 'admin' }],
  ['a cookie that sets another', { cookie: { name: 'baton', value: 'a; Domain=evil.example', max_age_seconds: null } }],
])('a session of %s is given to nobody', async (_, fields) => {
  const login = await site.logIn();
  door.answer('POST /v1/sessions', changed(fields));
  const answer = await login.ask(behind, wanted('laptop-0001'));

  expectProblem(answer, 'broker_contract');
  expect(answer.headers['set-cookie']).toBeUndefined();
});

test('a renewal of another session is given to nobody', async () => {
  const [device, other] = [await site.signIn(), await site.signIn()];
  const credential = other.cookie.split('=')[1] as string;
  door.answer('POST /v1/sessions/rotate', async () => {
    const { status, body } = await serviceOf(site.broker).tryRotate(credential);
    return { status, body };
  });
  const answer = await device.ask(behind, { method: 'POST', path: '/api/auth/refresh' });

  expectProblem(answer, 'broker_contract');
  expect(answer.headers['set-cookie']).toBeUndefined();
});

test('who one is cannot be answered by a page, or about another session', async () => {
  const [device, other] = [await site.signIn(), await site.signIn()];
  door.answer('POST /v1/verify', async () => HTML);
  expectProblem(await device.ask(behind, { path: '/api/me' }), 'broker_contract');
  door.answer('POST /v1/verify', async () => {
    const body = await serviceOf(site.broker).verify(other.cookie.split('=')[1] as string);
    return { status: 200, body };
  });
  expectProblem(await device.ask(behind, { path: '/api/me' }), 'broker_contract');
  door.open();
  expect((await device.ask(behind, { path: '/api/me' })).body).toMatchObject({ user_id: device.user });
});

test.each([{}, { code: 'no_such_session' }, null])(
  'a 401 of %j is about the credential that was shown',
  async (body) => {
    const device = await site.signIn();
    door.answer('POST /v1/verify', async () => ({ status: 401, body }));
    expectProblem(await device.ask(behind, { path: '/api/me' }), 'unauthenticated');
    door.answer('POST /v1/sessions/rotate', async () => ({ status: 401, body }));
    expectProblem(await device.ask(behind, { method: 'POST', path: '/api/auth/refresh' }), 'session_expired');
  },
);

test('a 401 about our own token is no fault of the client', async () => {
  const device = await site.signIn();
  door.answer('POST /v1/verify', async () => ({ status: 401, body: { code: 'unauthenticated' } }));
  expectProblem(await device.ask(behind, { path: '/api/me' }), 'broker_contract');
});

test('sessions are named as their broker likes', async () => {
  const login = await site.logIn();
  door.answer('POST /v1/sessions', changed({ session_id: 'sess-1' }));
  expect((await login.ask(behind, wanted('laptop-0001'))).status).toBe(200);
});

test('what the broker does not answer is named on the admin port, and what else the replica needs', async () => {
  const device = await site.signIn();
  door.answer('GET /v1/sessions', async () => ({ status: 503, body: {} }));
  const status = async () =>
    (await (await fetch(`${behind.adminUrl}/statusz`)).json()) as { broker: { failing: string[] } };
  for (let i = 0; i < 30 && (await status()).broker.failing.length === 0; i++) {
    await device.ask(behind, { path: '/api/auth/sessions' });
  }
  expect(await status()).toMatchObject({
    store: { up: true },
    relay_store: { up: true },
    broker: { failing: ['list'] },
  });
});

test('a listing that is none leaves the rows as they are', async () => {
  const device = await site.signIn();
  door.answer('GET /v1/sessions', async () => HTML);
  const { body } = await device.ask(behind, { path: '/api/auth/sessions' });

  expect(body).toMatchObject({ stale: true, sessions: [{ device_id: device.deviceId, name: 'Laptop', scope: null }] });
});

test('a mint whose answer was lost is one session: the next try gets the same', async () => {
  const login = await site.logIn();
  const minted: IssuedSession[] = [];
  door.answer('POST /v1/sessions', async (real) => {
    const { status, body } = await real();
    if (status < 300) minted.push(body as IssuedSession);
    return null;
  });
  expectProblem(await login.ask(behind, wanted('laptop-0001')), 'broker_unavailable');
  expect((await login.ask(site.two, { path: '/api/devices' })).body).toEqual({ devices: [] });
  door.open();
  const answer = await login.ask(behind, wanted('laptop-0001'));
  const sessions = (await serviceOf(site.broker).list(login.user)).filter(({ meta }) => meta !== '');

  expect(answer.status).toBe(200);
  expect(minted.length).toBeGreaterThanOrEqual(1);
  expect(sessions.map(({ session_id }) => session_id)).toEqual([minted[0]?.session_id]);
});

test('a mint that fails once at the broker is asked for again with the same key, and answered', async () => {
  const login = await site.logIn();
  let asked = 0;
  door.answer('POST /v1/sessions', async (real) => {
    asked += 1;
    const { status, body } = await real();
    return asked === 1 ? { status: 503, body: { code: 'store_unavailable' } } : { status, body };
  });
  const answer = await login.ask(behind, wanted('laptop-0001'));

  expect([answer.status, asked]).toEqual([200, 2]);
  const cookie = String([answer.headers['set-cookie']].flat()[0]).split(';')[0] as string;
  expect((await signedIn(login.user, cookie, null).ask(site.two, { path: '/api/me' })).status).toBe(200);
});

test('a device that is signed out while it renews itself stays out, and has no session', async () => {
  const laptop = await site.signIn(randomUser());
  const phone = await site.signIn(laptop.user, { device_name: 'Phone' });
  door.answer('POST /v1/sessions', async (real) => {
    const removed = await laptop.ask(site.one, { method: 'DELETE', path: `/api/auth/sessions/${phone.deviceId}` });
    expect(removed.status).toBe(204);
    door.open();
    const { status, body } = await real();
    return { status, body };
  });
  // Only the mint itself is delayed.
  const mint = { ...wanted(phone.deviceId), body: { ...wanted(phone.deviceId).body, device_name: 'Phone' } };
  const answer = await phone.ask(behind, mint);

  expectProblem(answer, 'session_revoked');
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect((await serviceOf(site.broker).list(laptop.user)).some(({ meta }) => meta === phone.deviceId)).toBe(false);
  expect((await laptop.ask(site.two, { path: '/api/devices' })).body).toMatchObject({ devices: [{ name: 'Laptop' }] });
});

// Proves G23.
test('a replica that dies between the tombstone and the broker leaves it to the others to tell', async () => {
  const dying = await site.startReplica({ APP_BROKER_URL: door.url });
  const laptop = await site.signIn(randomUser());
  const phone = await site.signIn(laptop.user, { device_name: 'Phone' });
  const stream = phone.listen(site.two);
  await stream.next('ready');
  const asked = new Promise<void>((resolve) => {
    door.answer('POST /v1/sessions/revoke', async () => {
      resolve();
      return null;
    });
  });
  const removing = laptop.ask(dying, { method: 'DELETE', path: `/api/auth/sessions/${phone.deviceId}` });
  const outcome = removing.then(
    ({ status }) => status,
    () => 'cut off',
  );
  await asked;
  await dying.kill();
  // The replica that finds it has to reach the broker.
  door.open();
  expect(await outcome).toBe('cut off');

  expect((await stream.next('session:revoked')).data).toEqual({ reason: 'revoked' });
  expectProblem(await phone.ask(site.one, { path: '/api/me' }), 'session_revoked');
  expect((await laptop.ask(site.one, { path: '/api/devices' })).body).toMatchObject({ devices: [{ name: 'Laptop' }] });
  await eventually('the broker has been told', async () => {
    const sessions = await serviceOf(site.broker).list(laptop.user);
    return sessions.some(({ meta }) => meta === phone.deviceId) ? null : true;
  });
  await stream.stop();
});
