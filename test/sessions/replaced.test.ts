import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { eventually } from '../broker/support/brokers.ts';
import { serviceOf } from '../broker/support/service.ts';
import { cookieOf, type SignedIn, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, type WireAnswer } from '../support/wire.ts';

/* A log-in takes over the device id of a live session, on two replicas that have just believed the old secrets. */

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterAll(() => site.stop());

/** Far less than the ten seconds for which replicas believe an answer of the broker. */
const AT_ONCE_MS = 4_000;

const ME = { path: '/api/me' };
const REFRESH = { method: 'POST', path: '/api/auth/refresh' };
const bearerOf = ({ answer }: SignedIn) => ({ Cookie: '', Authorization: `Bearer ${answer?.access_token}` });
const scopeOf = ({ body }: WireAnswer) => (body as { scope?: string }).scope;

/** Takes over: a new log-in of the same user mints this device's id. */
async function takeOver({ user, deviceId }: SignedIn, wanted: object, replica = site.one): Promise<SignedIn> {
  const login = await site.logIn(user);
  const body = { device_id: deviceId, device_name: 'Laptop', device_type: 'browser', ...wanted };
  const answer = await login.ask(replica, { method: 'POST', path: '/api/auth/device-session', body });
  expect(answer.status).toBe(200);
  return signedIn(user, cookieOf(answer), answer.body as SessionAnswer);
}

/** Asks the replicas with the old secrets until they are refused. Until then an answer may only show the old scope. */
async function untilRefused(
  old: SignedIn,
  headers: Record<string, string>,
  replicas = [site.one, site.two],
): Promise<void> {
  const from = performance.now();
  for (const replica of replicas) {
    const refused = await eventually('the old secret is refused', async () => {
      const answer = await old.ask(replica, { ...ME, headers });
      if (answer.status !== 200) return answer;
      expect(scopeOf(answer)).toBe(old.answer?.scope);
      return null;
    });
    expectProblem(refused, 'unauthenticated');
  }
  expect(performance.now() - from).toBeLessThan(AT_ONCE_MS);
}

const believed = async (device: SignedIn) => {
  for (const replica of [site.one, site.two]) {
    for (const headers of [{}, bearerOf(device)]) {
      expect((await device.ask(replica, { ...ME, headers })).status).toBe(200);
    }
  }
};

test.each([
  ['full', 'guest'],
  ['guest', 'full'],
] as const)(
  "when a log-in makes a device %s, the %s session's cookie and token are refused at once",
  async (to, from) => {
    const old = await site.signIn(undefined, { scope: from });
    await believed(old);
    const taken = await takeOver(old, { scope: to });

    expect({ id: taken.deviceId, scope: taken.answer?.scope }).toEqual({ id: old.deviceId, scope: to });
    await untilRefused(old, {});
    await untilRefused(old, bearerOf(old));
    const renewed = await old.ask(site.two, REFRESH);
    expectProblem(renewed, 'session_expired');
    expect(renewed.headers['set-cookie']).toBeUndefined();
    for (const replica of [site.one, site.two]) expect(scopeOf(await taken.ask(replica, ME))).toBe(to);
  },
);

// Proves G23.
test('a replica that has only just started, of which the others know nothing yet, refuses the old secrets too', async () => {
  for (let i = 0; i < 3; i++) {
    const old = await site.signIn(undefined, { scope: 'guest' });
    const young = await site.startReplica();
    for (const headers of [{}, bearerOf(old)]) {
      expect((await old.ask(young, { ...ME, headers })).status).toBe(200);
    }
    await takeOver(old, { scope: 'full' });
    await untilRefused(old, {}, [young]);
    await untilRefused(old, bearerOf(old), [young]);
  }
});

test('a session that becomes one that is renewed ends its old cookie at once, and its access token runs out', async () => {
  const old = await site.signIn(undefined, { persist: 'once' });
  await believed(old);
  const taken = await takeOver(old, { persist: 'persist' });
  expect(taken.answer?.persist).toBe('persist');
  await untilRefused(old, {});
  expectProblem(await old.ask(site.one, REFRESH), 'session_expired');
  for (const replica of [site.one, site.two]) {
    expect((await old.ask(replica, { ...ME, headers: bearerOf(old) })).status).toBe(200);
  }
});

test('streams that the old secrets opened end on every replica, and do not come back by them', async () => {
  const old = await site.signIn(undefined, { scope: 'guest' });
  const streams = [old.listen(site.one), old.listen(site.two)];
  await Promise.all(streams.map((stream) => stream.next('ready')));
  const taken = await takeOver(old, { scope: 'full' }, site.two);
  for (const stream of streams) expect((await stream.next('reconnect')).data).toMatchObject({ reason: 'rotate' });
  await untilRefused(old, {});
  await Promise.all(streams.map((stream) => stream.stop()));

  const own = taken.listen(site.one);
  await own.next('ready');
  await taken.ask(site.two, { method: 'POST', path: '/api/message', body: { to: '*', content: 'to nobody else' } });
  expect(own.events.map(({ name }) => name)).not.toContain('session:revoked');
  await own.stop();
});

test('the old cookie cannot end the session that took its place, however often it is shown', async () => {
  const old = await site.signIn(undefined, { scope: 'guest' });
  const taken = await takeOver(old, {});
  const next = await taken.ask(site.one, REFRESH);
  const newest = signedIn(taken.user, cookieOf(next), next.body as SessionAnswer);
  expect((await newest.ask(site.two, ME)).status).toBe(200);
  for (let i = 0; i < 3; i++) expectProblem(await old.ask(site.two, REFRESH), 'session_expired');
  expect((await newest.ask(site.one, REFRESH)).status).toBe(200);
  expect(await serviceOf(site.broker).list(old.user)).toContainEqual(
    expect.objectContaining({ meta: old.deviceId, scope: 'full' }),
  );
});

test('a device that mints its own session anew keeps its streams, and its old cookie is over', async () => {
  const old = await site.signIn();
  await believed(old);
  const stream = old.listen(site.two);
  await stream.next('ready');
  const body = { device_id: old.deviceId, device_name: 'Desk', device_type: 'browser' };
  const answer = await old.ask(site.one, { method: 'POST', path: '/api/auth/device-session', body });
  expect(answer.status).toBe(200);
  await untilRefused(old, {});
  expect((await stream.next('device:renamed')).data).toMatchObject({ device: { name: 'Desk' } });
  expect(stream.events.map(({ name }) => name)).not.toContain('reconnect');
  await stream.stop();
});
