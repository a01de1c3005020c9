import { type OpenIdProvider, startOpenIdProvider } from '../support/sign-in/openid-provider.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { sharedRedisUrl, randomPrefix } from '../support/redis/redis.ts';
import { type BrokerProcess, spawnBroker, stopBrokers } from './support/brokers.ts';
import { type Browser, locationOf, makeBrowser } from './support/browser.ts';
import { type Service, serviceOf } from './support/service.ts';

const RETURN = 'http://localhost:8080';

let provider: OpenIdProvider;
let broker: BrokerProcess;
let service: Service;

/** Starts a broker whose public address is the one that this test uses. */
async function startWith(issuer: string, env: Record<string, string> = {}): Promise<BrokerProcess> {
  const port = await freePort();
  const started = spawnBroker(
    {
      BROKER_REDIS_URL: sharedRedisUrl(),
      BROKER_KEY_PREFIX: randomPrefix(),
      BROKER_PUBLIC_URL: `http://127.0.0.1:${port}`,
      BROKER_RETURN_ORIGINS: RETURN,
      BROKER_OIDC_ISSUER: issuer,
      BROKER_OIDC_CLIENT_ID: provider.clientId,
      BROKER_OIDC_CLIENT_SECRET: provider.clientSecret,
      ...env,
    },
    port,
  );
  await started.ready();
  return started;
}

beforeAll(async () => {
  provider = await startOpenIdProvider();
  broker = await startWith(provider.issuer);
  service = serviceOf(broker);
});
afterAll(async () => {
  await stopBrokers();
  await provider.stop();
});
beforeEach(() => {
  provider.misbehaviour = {};
  provider.redirectUris = [];
  provider.user = { claims: { sub: 'user-42', name: 'Anna Müller' }, userinfo: {} };
});

const begin = (browser: Browser, returnTo = `${RETURN}/link?r=1&c=2`) =>
  browser.go(`${broker.url}/login?return_to=${encodeURIComponent(returnTo)}`);

/** Goes from the login to the callback's address, by way of the provider. */
async function toCallback(browser: Browser, returnTo?: string): Promise<string> {
  const atProvider = locationOf(await begin(browser, returnTo));
  return locationOf(await request({ url: provider.issuer }, { path: atProvider.slice(provider.issuer.length) }));
}

const logIn = async (browser: Browser, returnTo?: string) => browser.go(await toCallback(browser, returnTo));

function expectNobody(browser: Browser, answer: WireAnswer, status: number): void {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toMatch(/^text\/html/);
  expect(browser.set.has('baton')).toBe(false);
  expect(answer.headers.location).toBeUndefined();
}

describe('a login', () => {
  test('leads over the provider back to where it came from, with a session without device', async () => {
    const browser = makeBrowser();
    const answer = await logIn(browser);
    expect([answer.status, locationOf(answer)]).toEqual([303, `${RETURN}/link?r=1&c=2`]);
    expect(browser.set.get('baton')?.attributes).toEqual(['httponly', 'path=/', 'samesite=lax']);
    expect(await service.verify(browser.jar.get('baton') ?? '')).toMatchObject({
      ...{ subject: 'user-42', name: 'Anna Müller', meta: '', scope: 'full', roles: [] },
    });
    expect([...browser.jar.keys()]).toEqual(['baton']);
  });

  test('asks with state, nonce and PKCE, and tells the provider nothing of where it returns to', async () => {
    const answer = await begin(makeBrowser());
    expect(answer.status).toBe(302);
    const url = new URL(locationOf(answer));
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: provider.clientId,
      scope: 'openid profile email',
      redirect_uri: `${broker.url}/login/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(url.href).not.toContain('8080');
  });

  test('remembers itself in a cookie that tells nothing and lasts ten minutes', async () => {
    const browser = makeBrowser();
    const url = new URL(locationOf(await begin(browser)));
    const [cookie] = [...browser.set];
    expect(cookie?.[0]).toMatch(/^baton-login-[0-3]$/);
    expect(cookie?.[1].attributes).toEqual(['httponly', 'max-age=600', 'path=/', 'samesite=lax']);
    const plain = Buffer.from(cookie?.[1].value ?? '', 'base64url').toString('latin1') + cookie?.[1].value;
    for (const name of ['state', 'nonce']) expect(plain).not.toContain(url.searchParams.get(name));
    expect(plain).not.toContain('8080');
  });

  test('uses other values each time', async () => {
    const [one, two] = [await begin(makeBrowser()), await begin(makeBrowser())].map((a) => new URL(locationOf(a)));
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(one?.searchParams.get(name)).not.toBe(two?.searchParams.get(name));
    }
  });

  test('of several tabs at once ends well in each of them, in any order', async () => {
    const browser = makeBrowser();
    const callbacks: string[] = [];
    for (const tab of ['/a', '/b', '/c', '/d']) callbacks.push(await toCallback(browser, `${RETURN}${tab}`));
    const ends = [];
    for (const url of callbacks.reverse()) ends.push(locationOf(await browser.go(url)));
    expect(ends).toEqual(['/d', '/c', '/b', '/a'].map((tab) => `${RETURN}${tab}`));
  });

  test('never keeps more than four attempts in a browser', async () => {
    const browser = makeBrowser();
    for (let i = 0; i < 10; i++) await begin(browser);
    expect(browser.jar.size).toBe(4);
    expect((await logIn(browser)).status).toBe(303);
  });

  test('is refused a return_to of another site before the provider is asked', async () => {
    const browser = makeBrowser();
    expectProblem(await begin(browser, 'https://evil.example/'), 'invalid_request');
    expect(browser.jar.size).toBe(0);
  });
});

describe('who it is', () => {
  const claimed = async (claims: Record<string, unknown>, userinfo: Record<string, unknown> = {}) => {
    provider.user = { claims: { sub: 'user-43', ...claims }, userinfo };
    const browser = makeBrowser();
    await logIn(browser);
    return service.verify(browser.jar.get('baton') ?? '');
  };

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['Anna', { name: ' Anna ' }, {}],
    ['anna42', { preferred_username: 'anna42' }, {}],
    ['a@b.example', { email: 'a@b.example' }, {}],
    ['From Userinfo', {}, { name: 'From Userinfo' }],
    ['user-43', {}, {}],
    ['Eve', { name: '\u202eE\u0000v\ue000e'.replace('\ue000', '\n') }, {}],
    ['x'.repeat(128), { name: 'x'.repeat(500) }, {}],
    ['ab', { name: 'a\ud800b' }, {}],
    ['user-43', { name: 7 }, {}],
  ])('is called %j', async (name, claims, userinfo) => {
    expect(await claimed(claims, userinfo)).toMatchObject({ subject: 'user-43', name });
  });

  test('user info cannot change the user id', async () => {
    const identity = await claimed({}, { sub: 'somebody-else', name: 'Mallory' });
    expect(identity).toMatchObject({ subject: 'user-43', name: 'user-43' });
  });

  test('has the roles that a header can carry', async () => {
    const roles = ['admin', 'a,b', 'ü', '', 7, null, 'x'.repeat(129), 'ops/team'];
    expect((await claimed({ roles })).roles).toEqual(['admin', 'ops/team']);
    expect((await claimed({ roles: 'admin' })).roles).toEqual([]);
  });

  test('the name stays with the sessions of the devices', async () => {
    await claimed({ name: 'Anna Müller' });
    expect((await service.mint({ subject: 'user-43' })).user).toEqual({ user_id: 'user-43', name: 'Anna Müller' });
  });

  test.each(['Müller', 'a b', 'x'.repeat(256)])('a user id that no header can carry is refused: %j', async (sub) => {
    provider.user = { claims: { sub }, userinfo: {} };
    const browser = makeBrowser();
    expectNobody(browser, await logIn(browser), 403);
  });
});

describe('nobody is signed in', () => {
  test('by the callback of a login that another browser began', async () => {
    const [attacker, victim] = [makeBrowser(), makeBrowser()];
    const callback = await toCallback(attacker);
    expectNobody(victim, await victim.go(callback), 400);
    // Nor does it work when the victim has a login of its own under way.
    await begin(victim);
    expectNobody(victim, await victim.go(callback), 400);
  });

  test('by a callback with another state', async () => {
    const browser = makeBrowser();
    const callback = new URL(await toCallback(browser));
    callback.searchParams.set('state', 'A'.repeat(43));
    expectNobody(browser, await browser.go(callback.href), 400);
  });

  test.each(['', '?', '?code=x', '?state=', '?state=x', '?error=access_denied', '?code=x&state=x&iss=x'])(
    'by a callback with %j',
    async (query) => {
      const browser = makeBrowser();
      await begin(browser);
      expectNobody(browser, await browser.go(`${broker.url}/login/callback${query}`), 400);
    },
  );

  test('by a callback with the state twice', async () => {
    const browser = makeBrowser();
    const callback = await toCallback(browser);
    const { searchParams } = new URL(callback);
    expectProblem(await browser.go(`${callback}&state=${searchParams.get('state')}`), 'invalid_request');
    expect(browser.set.has('baton')).toBe(false);
  });

  test('by the same callback a second time', async () => {
    const browser = makeBrowser();
    const callback = await toCallback(browser);
    const kept = new Map(browser.jar);
    await browser.go(callback);
    const credential = browser.jar.get('baton');
    expect((await browser.go(callback)).status).toBe(400);
    // It does not even work for a browser that forgets nothing, because the provider accepts a code once.
    const thief = makeBrowser();
    for (const [name, value] of kept) thief.jar.set(name, value);
    expectNobody(thief, await thief.go(callback), 403);
    await service.verify(credential ?? '');
  });

  test('by an attempt that was tampered with, or is of another broker', async () => {
    const browser = makeBrowser();
    const callback = await toCallback(browser);
    const [[name, value] = ['', '']] = [...browser.jar];
    browser.jar.set(
      name,
      value.replace(/(.)(.{20})$/, (_, one, rest) => (one === 'A' ? 'B' : 'A') + rest),
    );
    expectNobody(browser, await browser.go(callback), 400);
    browser.jar.set(name, 'e30.e30.e30.e30.e30');
    expectNobody(browser, await browser.go(callback), 400);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another nonce', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['another audience', { aud: 'another-client' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['an end in the past', { exp: Math.floor(Date.now() / 1000) - 600 }],
    ['no user', { sub: undefined }],
    ['a user that is no text', { sub: 7 }],
  ])('by an ID token with %s', async (_what, claims) => {
    provider.misbehaviour = { claims };
    const browser = makeBrowser();
    expectNobody(browser, await logIn(browser), 503);
  });

  test.each([{ foreignKey: true }, { unsigned: true }, { responseIssuer: 'https://evil.example' }])(
    'by a provider that is not the one: %j',
    async (misbehaviour) => {
      provider.misbehaviour = misbehaviour;
      const browser = makeBrowser();
      expectNobody(browser, await logIn(browser), 503);
    },
  );

  test('by a provider that refuses, and the page leads to another attempt', async () => {
    provider.misbehaviour = { error: 'access_denied' };
    const browser = makeBrowser();
    const answer = await logIn(browser, `${RETURN}/back`);
    expectNobody(browser, answer, 403);
    expect(answer.text).toContain(`/login?return_to=${encodeURIComponent(`${RETURN}/back`)}`);
    expect(browser.jar.size).toBe(0);
  });
});

describe('the provider', () => {
  test('is asked for what it is only once', async () => {
    await Promise.all(Array.from({ length: 10 }, () => begin(makeBrowser())));
    expect(provider.asked['/.well-known/openid-configuration']).toBe(1);
  });

  test.each([{}, { keepsOld: false }, { alg: 'ES256' }])(
    'may change its keys between two logins: %j',
    async (change) => {
      expect((await logIn(makeBrowser())).status).toBe(303);
      const fetched = provider.asked['/jwks'] ?? 0;
      await provider.rotate(change);
      for (let i = 0; i < 3; i++) expect((await logIn(makeBrowser())).status).toBe(303);
      // The key set is fetched once for the new key, and not for each login.
      expect(provider.asked['/jwks']).toBe(fetched + 1);
    },
  );

  test('refuses a callback address that was not registered, and takes the one that was', async () => {
    provider.redirectUris = ['https://elsewhere.example/login/callback'];
    const atProvider = locationOf(await begin(makeBrowser()));
    const path = atProvider.slice(provider.issuer.length);
    expect((await request({ url: provider.issuer }, { path })).status).toBe(400);
    provider.redirectUris = [`${broker.url}/login/callback`];
    expect((await logIn(makeBrowser())).status).toBe(303);
  });

  test('may be away: the page says so, and the login works when it is back', async () => {
    const port = await freePort();
    const lonely = await startWith(`http://127.0.0.1:${port}`);
    const browser = makeBrowser();
    expectNobody(browser, await browser.go(`${lonely.url}/login`), 503);
    const late = await startOpenIdProvider({ port });
    const answer = await browser.go(`${lonely.url}/login`);
    expect([answer.status, new URL(locationOf(answer)).origin]).toEqual([302, late.issuer]);
    await late.stop();
  });

  test('that refuses our secret signs nobody in', async () => {
    const wrong = await startWith(provider.issuer, { BROKER_OIDC_CLIENT_SECRET: 'wrong' });
    const browser = makeBrowser();
    const atProvider = locationOf(await browser.go(`${wrong.url}/login`));
    const callback = locationOf(
      await request({ url: provider.issuer }, { path: atProvider.slice(provider.issuer.length) }),
    );
    expectNobody(browser, await browser.go(callback), 403);
  });
});

test('a user whom the broker refuses hears it', async () => {
  const strict = await startWith(provider.issuer, { BROKER_REFUSED_SUBJECTS: 'user-42' });
  const browser = makeBrowser();
  const atProvider = locationOf(await browser.go(`${strict.url}/login`));
  const callback = locationOf(
    await request({ url: provider.issuer }, { path: atProvider.slice(provider.issuer.length) }),
  );
  const answer = await browser.go(callback);
  expectNobody(browser, answer, 403);
  expect(answer.text).toContain('This account may not sign in');
});

test('neither code, state nor return_to is in the log', async () => {
  const browser = makeBrowser();
  const callback = await toCallback(browser, `${RETURN}/link?r=request-id&c=approval-code`);
  await browser.go(callback);
  await browser.go(callback);
  const { searchParams } = new URL(callback);
  const log = broker.log();
  expect(log).toContain('/login/callback');
  for (const secret of [searchParams.get('code'), searchParams.get('state'), 'request-id', 'approval-code']) {
    expect(log).not.toContain(secret);
  }
  expect(log).not.toContain(browser.jar.get('baton'));
  expect(log).not.toContain(provider.clientSecret);
});
