import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { serviceOf } from '../broker/support/service.ts';
import { cookieOf, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { makeKeys } from '../../services/sync/redis/keys.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { expectProblem } from '../support/wire.ts';

let site: SignInSite;
beforeAll(async () => {
  // Every test signs in from the same address.
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterAll(() => site.stop());

const PATH = '/api/auth/device-session';
const wanted = (fields: object = {}) => ({
  method: 'POST',
  path: PATH,
  body: { device_id: 'laptop-0001', device_name: 'Laptop', device_type: 'browser', ...fields },
});

test('a login becomes a device, which is itself on every replica, by its cookie and by its token', async () => {
  const login = await site.logIn();
  const answer = await login.ask(site.one, wanted());
  const session = answer.body as SessionAnswer;

  expect(answer.status).toBe(200);
  expect(session).toMatchObject({
    ...{ token_type: 'Bearer', scope: 'full', persist: 'persist' },
    device: { device_id: 'laptop-0001', name: 'Laptop', type: 'browser' },
    user: { user_id: login.user },
  });
  expect(session.session_expires_at - Date.now()).toBeGreaterThan(167 * 3_600_000);
  const device = signedIn(login.user, cookieOf(answer), session);
  for (const headers of [{}, { Cookie: '', Authorization: `Bearer ${session.access_token}` }]) {
    const me = await device.ask(site.two, { path: '/api/me', headers });
    expect(me.body).toMatchObject({ user_id: login.user, device: { device_id: 'laptop-0001' } });
  }
});

test('the cookie is for this host alone, out of reach of scripts, and lives as long as the session', async () => {
  const login = await site.logIn();
  const [cookie] = [(await login.ask(site.one, wanted())).headers['set-cookie']].flat();
  const [once] = [(await (await site.logIn()).ask(site.one, wanted({ persist: 'once' }))).headers['set-cookie']].flat();

  expect(cookie).toMatch(/^baton=v1\.[\w-]+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=60\d{4}$/);
  expect(once).toMatch(/^baton=v1\.[\w-]+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
});

test('over https the cookie is __Host- and Secure once the broker says so, and log-out clears that one', async () => {
  const replica = await site.startReplica({ APP_PUBLIC_URL: 'https://baton.example' });
  const device = await site.signIn();
  const headers = {
    Origin: 'https://baton.example',
    Cookie: '',
    Authorization: `Bearer ${device.answer?.access_token}`,
  };
  const renewed = await device.ask(replica, { ...wanted({ device_id: device.deviceId }), headers });
  const authorization = `Bearer ${(renewed.body as SessionAnswer).access_token}`;
  const out = await device.ask(replica, {
    ...{ method: 'POST', path: '/api/auth/logout' },
    headers: { ...headers, Authorization: authorization },
  });

  expect(String(renewed.headers['set-cookie'])).toMatch(/; Secure/);
  expect(out.status).toBe(204);
  expect(String(out.headers['set-cookie'])).toMatch(
    /^__Host-baton=; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=0/,
  );
});

test('a name that looks like another gets a suffix, and a device that mints anew keeps its name of before that rule', async () => {
  const first = await site.signIn();
  const second = await site.signIn(first.user, { device_name: 'LAPTOP' });
  expect(second.answer?.device?.name).toBe('LAPTOP 2');
  const redis = connectTo(sharedRedisUrl());
  const key = makeKeys(site.prefix).devices(first.user);
  const row = (await redis.hget(key, second.deviceId)) as string;
  await redis.hset(key, second.deviceId, row.replace('LAPTOP 2', 'LAPTOP'));
  redis.disconnect();
  const again = await second.ask(site.two, wanted({ device_id: second.deviceId, device_name: 'LAPTOP' }));
  expect((again.body as SessionAnswer).device?.name).toBe('LAPTOP');
});

test('a taken name gets a suffix, and the answer tells the final one', async () => {
  const first = await site.signIn();
  const second = await site.signIn(first.user);
  const third = await site.signIn(first.user, { device_name: 'x'.repeat(32) });
  const fourth = await site.signIn(first.user, { device_name: 'x'.repeat(32) });

  expect(second.answer?.device?.name).toBe('Laptop 2');
  expect(third.answer?.device?.name).toBe('x'.repeat(32));
  expect(fourth.answer?.device?.name).toBe(`${'x'.repeat(30)} 2`);
});

test('the other devices hear of a new one at once, it itself does not', async () => {
  const first = await site.signIn();
  const stream = first.listen(site.two);
  await stream.next('ready');
  const second = await site.signIn(first.user, { device_name: 'Phone', device_type: 'ios' });
  const { data } = await stream.next('device:added');

  expect(data.device).toEqual({ device_id: second.deviceId, name: 'Phone', type: 'ios' });
  await stream.stop();
});

test('a device renews itself alone: its own id, the new name, the scope and the persistence that it has', async () => {
  const device = await site.signIn(undefined, { scope: 'guest', persist: 'once' });
  const listener = (await site.signIn(device.user, { device_name: 'Other' })).listen(site.two);
  await listener.next('ready');

  expectProblem(await device.ask(site.one, wanted({ device_id: 'another-0001' })), 'device_mismatch');
  const answer = await device.ask(
    site.two,
    wanted({ device_id: device.deviceId, device_name: 'New', persist: 'persist' }),
  );
  const session = answer.body as SessionAnswer;

  expect(session).toMatchObject({ scope: 'guest', persist: 'once', device: { name: 'New' } });
  // It does not get a minute more than it had.
  expect(session.session_expires_at).toBeLessThanOrEqual((device.answer?.session_expires_at ?? 0) + 1_500);
  expect((await listener.next('device:renamed')).data.device.name).toBe('New');
  await listener.stop();
});

describe('a session that is not renewed', () => {
  test('is no longer for being asked for twenty times in a row', async () => {
    let device = await site.signIn(undefined, { persist: 'once' });
    const first = device.answer?.session_expires_at ?? 0;
    for (let time = 0; time < 20; time++) {
      // The difference is the time between the two looks at the store's clock. A renewed session would have hours more.
      const answer = await device.ask(time % 2 ? site.one : site.two, wanted({ device_id: device.deviceId }));
      const session = answer.body as SessionAnswer;
      expect(session.session_expires_at).toBeLessThanOrEqual(first + 1_500);
      device = signedIn(device.user, cookieOf(answer), session);
    }
  });

  test('is over in its last second', async () => {
    const { subject, cookie } = await serviceOf(site.broker).mint({
      ...{ meta: 'laptop-0001', persist: 'once', ttl_seconds: 12, sliding: false },
    });
    let device = signedIn(subject, `${cookie.name}=${cookie.value}`, null);
    let last = await device.ask(site.one, wanted());
    for (let time = 0; time < 20 && last.status === 200; time++) {
      device = signedIn(subject, cookieOf(last), null);
      last = await device.ask(site.one, wanted());
    }
    expectProblem(last, 'session_expired');
  });
});

test('a guest asks for no more than it is, natively or otherwise', async () => {
  const guest = await site.signIn(undefined, { scope: 'guest' });
  expectProblem(await guest.ask(site.one, wanted({ device_id: guest.deviceId, scope: 'full' })), 'tier_exceeded');
  const login = await site.logIn();
  expectProblem(await login.ask(site.one, wanted({ scope: 'guest', device_type: 'ios' })), 'scope_not_allowed');
});

test.each([
  ['*', 'invalid_device_name'],
  ['', 'invalid_device_name'],
  ['x'.repeat(33), 'invalid_device_name'],
  ['<b>ü</b>', 'invalid_device_name'],
  ['a\u202Eb', 'invalid_device_name'],
  ['a\u0000b', 'invalid_device_name'],
] as const)('%j is no device name, and nothing is minted', async (name, code) => {
  const login = await site.logIn();
  expectProblem(await login.ask(site.one, wanted({ device_name: name })), code);
  expect((await login.ask(site.two, { path: '/api/devices' })).body).toEqual({ devices: [] });
});

test('markup in a name is a name like any other', async () => {
  const device = await site.signIn(undefined, { device_name: '<img src=x onerror=1>' });
  expect(device.answer?.device?.name).toBe('<img src=x onerror=1>');
});

test('a name of 10 kB is refused by the schema', async () => {
  const login = await site.logIn();
  expectProblem(await login.ask(site.one, wanted({ device_name: 'x'.repeat(10_000) })), 'invalid_request');
});

describe('refresh', () => {
  const refresh = (headers: Record<string, string>, body?: object) => ({
    ...{ method: 'POST', path: '/api/auth/refresh', headers },
    ...(body && { body }),
  });

  test('gives the next secret by the cookie, without a body, and the old one works on for a while', async () => {
    const device = await site.signIn();
    const answer = await device.ask(site.two, refresh({}));

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ device: { device_id: device.deviceId, name: 'Laptop' } });
    expect(cookieOf(answer)).not.toBe(device.cookie);
    expect((await device.ask(site.one, { path: '/api/me' })).status).toBe(200);
  });

  test('takes the credential in the body from a program without cookies', async () => {
    const device = await site.signIn();
    const credential = device.cookie.split('=')[1];
    const answer = await device.ask(site.two, refresh({ Cookie: '' }, { credential }));
    expect(answer.body).toMatchObject({ device: { device_id: device.deviceId } });
  });

  test('by three tabs at once leaves all three signed in', async () => {
    const device = await site.signIn();
    const answers = await Promise.all(
      [site.one, site.two, site.one].map((replica) => device.ask(replica, refresh({}))),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      const tab = signedIn(device.user, cookieOf(answer), answer.body as SessionAnswer);
      expect((await tab.ask(site.two, { path: '/api/me' })).status).toBe(200);
    }
  });

  test('goes by the cookie, whatever token is beside it', async () => {
    const device = await site.signIn();
    const answer = await device.ask(site.two, refresh({ Authorization: 'Bearer not.a.token' }));
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ token_type: 'Bearer' })]);
  });

  test('of what never was a session, or of nothing, is 401', async () => {
    const device = await site.signIn();
    const made = `v1.${device.cookie.split('.')[1]}.${'A'.repeat(43)}`;
    expectProblem(await device.ask(site.one, refresh({ Cookie: `baton=${made}` })), 'session_expired');
    expectProblem(await device.ask(site.one, refresh({ Cookie: '' })), 'unauthenticated');
  });

  test('puts back a row that the store lost', async () => {
    const device = await site.signIn();
    await device.ask(site.one, { method: 'DELETE', path: '/api/me/data' });
    await device.ask(site.two, refresh({}));
    const { body } = await device.ask(site.two, { path: '/api/devices' });
    expect(body).toMatchObject({ devices: [{ device_id: device.deviceId, name: 'Laptop', current: true }] });
  });
});

describe('login', () => {
  const ask = async (returnTo?: string) =>
    (await site.logIn()).ask(site.one, {
      path: `/api/auth/login${returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo })}`}`,
    });

  test('sends the browser to the broker, and back to the same path of this service', async () => {
    const { status, headers } = await ask('/link?r=1&c=2');
    const target = new URL(String(headers['location']));
    expect(status).toBe(302);
    expect(target.origin + target.pathname).toBe(`${site.broker.url}/login`);
    expect(target.searchParams.get('return_to')).toBe('http://localhost:8080/link?r=1&c=2');
    expect(new URL(String((await ask()).headers['location'])).searchParams.get('return_to')).toBe(
      'http://localhost:8080/',
    );
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https://evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/\n/evil.example',
    ' //evil.example',
    '///evil.example',
    'evil.example',
    '/a\\b',
    '/%0d%0a\r\nSet-Cookie: a=b',
    '@evil.example',
    '/\u0000',
  ])('%j is no way back', async (returnTo) => {
    const answer = await ask(returnTo);
    expectProblem(answer, 'invalid_request');
    expect(answer.headers['location']).toBeUndefined();
  });
});
