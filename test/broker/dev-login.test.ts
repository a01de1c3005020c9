import { expectProblem, request } from '../support/wire.ts';
import { type BrokerProcess, startBroker, stopBrokers } from './support/brokers.ts';
import { locationOf, makeBrowser } from './support/browser.ts';
import { type Service, serviceOf } from './support/service.ts';

const PUBLIC = 'http://localhost:8090';
const RETURN = 'http://localhost:8080';

let broker: BrokerProcess;
let service: Service;

beforeAll(async () => {
  broker = await startBroker({
    env: {
      BROKER_DEV_LOGIN: 'true',
      BROKER_PUBLIC_URL: PUBLIC,
      BROKER_RETURN_ORIGINS: `${RETURN}, https://baton.example`,
    },
  });
  service = serviceOf(broker);
});
afterAll(stopBrokers);

const login = (returnTo: string) => request(broker, { path: `/login?return_to=${encodeURIComponent(returnTo)}` });
const submit = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  makeBrowser().submit(`${broker.url}/login/dev`, fields, headers);

test('one field and a name are enough, and the cookie is that of a session without device', async () => {
  const browser = makeBrowser();
  const page = await browser.go(`${broker.url}/login?return_to=${encodeURIComponent(`${RETURN}/link?r=1&c=2`)}`);
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  expect(page.text).toContain('<form method="post" action="/login/dev">');
  expect(page.text).toContain(`value="${RETURN}/link?r=1&amp;c=2"`);

  const answer = await browser.submit(`${broker.url}/login/dev`, { user: 'anna', return_to: `${RETURN}/link?r=1&c=2` });
  expect(answer.status).toBe(303);
  expect(locationOf(answer)).toBe(`${RETURN}/link?r=1&c=2`);
  expect(browser.set.get('baton')?.attributes).toEqual(['httponly', 'path=/', 'samesite=lax']);
  const identity = await service.verify(browser.jar.get('baton') ?? '');
  expect(identity).toMatchObject({ subject: 'anna', name: 'anna', meta: '', scope: 'full', roles: [] });
});

test('over https the cookie has the prefix that only this host can set', async () => {
  const secure = await startBroker({ env: { BROKER_DEV_LOGIN: 'true', BROKER_PUBLIC_URL: 'https://baton.example' } });
  const browser = makeBrowser();
  await browser.submit(`${secure.url}/login/dev`, { user: 'anna' });
  const { value, attributes } = browser.set.get('__Host-baton') ?? { value: '', attributes: [] };
  expect(attributes).toEqual(['httponly', 'path=/', 'samesite=lax', 'secure']);
  expect((await serviceOf(secure).mint()).cookie.name).toBe('__Host-baton');
  const answer = await request(secure, { path: '/forward-auth', headers: { Cookie: `__Host-baton=${value}` } });
  expect(answer.status).toBe(200);
  expectProblem(
    await request(secure, { path: '/forward-auth', headers: { Cookie: `baton=${value}` } }),
    'unauthenticated',
  );
});

test('each login is a session of its own', async () => {
  const [one, two] = [makeBrowser(), makeBrowser()];
  await one.submit(`${broker.url}/login/dev`, { user: 'twice' });
  await two.submit(`${broker.url}/login/dev`, { user: 'twice' });
  expect(await service.list('twice')).toHaveLength(2);
});

test('a session without device is not renewed, and gives its user a device', async () => {
  const browser = makeBrowser();
  await browser.submit(`${broker.url}/login/dev`, { user: 'Berta B' });
  const credential = browser.jar.get('baton') ?? '';
  const { subject, expires_at: end } = await service.verify(credential);
  const rotated = await service.rotate(credential);
  expect(rotated).toMatchObject({ expires_at: end, meta: '', persist: 'once', cookie: { max_age_seconds: null } });
  expect(await service.mint({ subject })).toMatchObject({ user: { user_id: 'Berta%20B', name: 'Berta B' } });
});

test('names of users are kept from doing harm', async () => {
  const browser = makeBrowser();
  const name = '  \u202e<b>"Eve"\r\n\u0000&amp;  ';
  expect((await browser.submit(`${broker.url}/login/dev`, { user: name })).status).toBe(303);
  const identity = await service.verify(browser.jar.get('baton') ?? '');
  expect(identity.name).toBe('<b>"Eve"&amp;');
  expect(identity.subject).toMatch(/^[\x21-\x7e]+$/);
});

test.each<Record<string, string>>([{}, { user: '' }, { user: ' \n ' }, { user: '王'.repeat(100) }])(
  'without a fit name nobody is signed in: %j',
  async (fields) => {
    const answer = await submit(fields);
    expectProblem(answer, 'invalid_request');
    expect(answer.headers['set-cookie']).toBeUndefined();
  },
);

test('a form that is too large, or has a field twice, is refused', async () => {
  expectProblem(await submit({ user: 'x'.repeat(20_000) }), 'body_too_large');
  const answer = await request(broker, {
    method: 'POST',
    path: '/login/dev',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: Buffer.from('user=a&user=b'),
  });
  expectProblem(answer, 'invalid_request');
});

describe('a form of another site signs nobody in', () => {
  test.each<Record<string, string>>([
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: `${PUBLIC}.evil.example` },
    { Origin: 'http://localhost:8091' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: PUBLIC, 'Sec-Fetch-Site': 'cross-site' },
  ])('%j', async (headers) => {
    const answer = await submit({ user: 'anna' }, headers);
    expectProblem(answer, 'cross_site');
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test.each<Record<string, string>>([
    { Origin: PUBLIC },
    { Origin: PUBLIC, 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'none' },
    {},
  ])('the own form does: %j', async (headers) => {
    expect((await submit({ user: 'anna' }, headers)).status).toBe(303);
  });
});

describe('return_to', () => {
  test.each([
    ['/', `${PUBLIC}/`],
    ['/link?r=1&c=2', `${PUBLIC}/link?r=1&c=2`],
    [RETURN, `${RETURN}/`],
    [`${RETURN}/a?b#c`, `${RETURN}/a?b#c`],
    ['HTTPS://BATON.EXAMPLE/x', 'https://baton.example/x'],
    ['https://baton.example:443/x', 'https://baton.example/x'],
    ['/a/../../b', `${PUBLIC}/b`],
    [`${PUBLIC}/x`, `${PUBLIC}/x`],
    ['/%2f%2fevil.example', `${PUBLIC}/%2f%2fevil.example`],
    ['/?next=//evil.example', `${PUBLIC}/?next=//evil.example`],
    ['', `${RETURN}/`],
  ])('may be %j', async (returnTo, leadsTo) => {
    const answer = await submit({ user: 'anna', return_to: returnTo });
    expect([answer.status, locationOf(answer)]).toEqual([303, leadsTo]);
    expect((await login(returnTo)).status).toBe(200);
  });

  test('may be absent', async () => {
    expect(locationOf(await submit({ user: 'anna' }))).toBe(`${RETURN}/`);
  });

  test.each([
    'https://evil.example/',
    'https://evil.example/https://baton.example',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '\t//evil.example',
    ' https://evil.example',
    'https:evil.example',
    'https:/evil.example',
    'https:\\\\evil.example',
    'http:baton.example',
    'https://baton.example@evil.example/',
    'https://user@baton.example/',
    'https://baton.example.evil.example/',
    'https://baton.example:444/',
    'http://baton.example/',
    'https://sub.baton.example/',
    'https://baton.example%2eevil.example/',
    'https://baton.example\u0000.evil.example/',
    'https://baton.example\u3002evil.example/',
    'javascript:alert(1)',
    'JAVASCRIPT://baton.example/%0aalert(1)',
    'data:text/html,x',
    'ftp://baton.example/',
    'baton.example',
    'link',
    '?x',
    '/a\r\nSet-Cookie: a=b',
    `/${'x'.repeat(2_048)}`,
  ])('may not be %j', async (returnTo) => {
    const answer = await submit({ user: 'anna', return_to: returnTo });
    expectProblem(answer, 'invalid_request');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers.location).toBeUndefined();
    expectProblem(await login(returnTo), 'invalid_request');
  });

  test('may not occur twice', async () => {
    expectProblem(await request(broker, { path: '/login?return_to=/&return_to=/' }), 'invalid_request');
  });
});

test('the page cannot be framed, runs no script, and its form leads only where a login may return', async () => {
  const { headers } = await login('/"><script>alert(1)</script>');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain(`form-action 'self' ${RETURN} https://baton.example`);
  expect(policy).not.toContain('unsafe');
  const { text } = await login('/"><script>alert(1)</script>');
  expect(text).not.toContain('<script>');
});

test('without a login the broker says so, and has neither page', async () => {
  const bare = await startBroker();
  expectProblem(await request(bare, { path: '/login' }), 'feature_disabled');
  expectProblem(await request(bare, { method: 'POST', path: '/login/dev' }), 'not_found');
  expectProblem(await request(bare, { path: '/login/callback?code=x&state=y' }), 'not_found');
});
