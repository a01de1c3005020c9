import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { IssuedSession } from '../../shared/contract/modules/broker.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';
import { type BrokerProcess, OTHER_TOKEN, startBroker, stopBrokers } from './support/brokers.ts';
import { makeBrowser } from './support/browser.ts';
import { mintOf, type Service, serviceOf } from './support/service.ts';

const keyPrefix = randomPrefix();
const PUBLIC = { BROKER_PUBLIC_URL: 'http://localhost:8090' };

let broker: BrokerProcess;
let service: Service;
let session: IssuedSession;

beforeAll(async () => {
  broker = await startBroker({ keyPrefix, env: { BROKER_DEV_LOGIN: '1', ...PUBLIC } });
  service = serviceOf(broker);
  session = await service.mint();
});
afterAll(stopBrokers);

const ask = (headers: Record<string, string | string[]>, path = '/forward-auth', method = 'GET') =>
  request(broker, { method, path, headers });
const withCookie = (credential: string) => ask({ Cookie: `baton=${credential}` });
const withToken = (token: string) => ask({ Authorization: `Bearer ${token}` });

/** Returns the identity headers of an answer, in the form in which they came. */
const identityOf = ({ headers }: WireAnswer) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-auth-')));

test('the cookie is answered with the identity in headers, all of them, also the empty ones', async () => {
  const answer = await withCookie(session.cookie.value);
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: '' });
  expect(identityOf(answer)).toEqual({
    'x-auth-subject': session.subject,
    'x-auth-scope': 'full',
    'x-auth-meta': 'device-0001',
    'x-auth-name': session.subject,
    'x-auth-roles': '',
    'x-auth-assertion': expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
  });
  expect(answer.headers['cache-control']).toBe('no-store');
});

test('the access token is answered like the cookie', async () => {
  const { 'x-auth-assertion': one, ...byToken } = identityOf(await withToken(session.access_token));
  const { 'x-auth-assertion': two, ...byCookie } = identityOf(await withCookie(session.cookie.value));
  expect(byToken).toEqual(byCookie);
  expect([one, two]).toEqual([expect.any(String), expect.any(String)]);
});

test('the assertion says the same, verifiably, for a minute', async () => {
  const keys = (await request(broker, { path: '/.well-known/jwks.json' })).body as JSONWebKeySet;
  const { headers } = await withCookie(session.cookie.value);
  const { payload } = await jwtVerify(String(headers['x-auth-assertion']), createLocalJWKSet(keys), {
    issuer: 'http://localhost:8090',
    audience: 'baton',
    algorithms: ['ES256'],
  });
  const { iat = 0, exp = 0, ...claims } = payload;
  expect(exp - iat).toBe(60);
  expect(claims).toEqual({
    ...{ iss: 'http://localhost:8090', aud: 'baton', sub: session.subject, scope: 'full', meta: 'device-0001' },
    ...{ name: session.subject, roles: [] },
  });
});

test('an assertion is no access token', async () => {
  const { headers } = await withCookie(session.cookie.value);
  const assertion = String(headers['x-auth-assertion']);
  expectProblem(await withToken(assertion), 'session_expired');
  expectProblem(await service.tryVerifyToken(assertion), 'session_expired');
});

test('a name of any script travels percent-encoded, and a login without device has an empty meta', async () => {
  const browser = makeBrowser();
  await browser.submit(`${broker.url}/login/dev`, { user: 'Zoë 王' });
  expect(identityOf(await withCookie(browser.jar.get('baton') ?? ''))).toMatchObject({
    'x-auth-subject': encodeURIComponent('Zoë 王'),
    'x-auth-name': encodeURIComponent('Zoë 王'),
    'x-auth-meta': '',
  });
});

test('a revoked session is refused at once, by cookie and by token', async () => {
  const ended = await service.mint();
  expect((await withCookie(ended.cookie.value)).status).toBe(200);
  await service.tryRevoke({ subject: ended.subject, session_id: ended.session_id, reason: 'revoked' });
  expectProblem(await withCookie(ended.cookie.value), 'session_revoked');
  expectProblem(await withToken(ended.access_token), 'session_revoked');
});

test('sessions of another app are not known here', async () => {
  const other = serviceOf(broker, { app: 'other', token: OTHER_TOKEN });
  expect((await withCookie((await other.mint()).cookie.value)).status).toBe(401);
});

test('a user who is refused from now on is signed out everywhere, and gets nothing new', async () => {
  const before = await service.mint({ subject: 'locked-out' });
  const later = await startBroker({ keyPrefix, env: { BROKER_REFUSED_SUBJECTS: 'somebody,locked-out', ...PUBLIC } });
  const strict = serviceOf(later);
  const headers = { Cookie: `baton=${before.cookie.value}` };
  expectProblem(await request(later, { path: '/forward-auth', headers }), 'unauthenticated');
  expectProblem(await strict.tryVerify(before.cookie.value), 'account_refused');
  expectProblem(await strict.tryVerifyToken(before.access_token), 'account_refused');
  expectProblem(await strict.tryRotate(before.cookie.value), 'account_refused');
  expectProblem(await strict.tryMint(mintOf({ subject: 'locked-out' })), 'account_refused');
  await strict.mint();
});

describe('without a credential that it knows', () => {
  test.each<[string, () => Record<string, string | string[]>]>([
    ['nothing', () => ({})],
    ['an empty cookie', () => ({ Cookie: 'baton=' })],
    ['a cookie of another name', () => ({ Cookie: `baton2=${session.cookie.value}` })],
    ['the name that only https has', () => ({ Cookie: `__Host-baton=${session.cookie.value}` })],
    ['a name that ends alike', () => ({ Cookie: `xbaton=${session.cookie.value}` })],
    ['two cookies', () => ({ Cookie: `baton=${session.cookie.value}; baton=${session.cookie.value}` })],
    ['two tokens', () => ({ Authorization: [`Bearer ${session.access_token}`, `Bearer ${session.access_token}`] })],
    ['a password', () => ({ Authorization: 'Basic YTpi' })],
    ['the cookie as token', () => ({ Authorization: `Bearer ${session.cookie.value}` })],
    ['the token as cookie', () => ({ Cookie: `baton=${session.access_token}` })],
    [
      'a wrong token beside a right cookie',
      () => ({ Authorization: 'Bearer wrong', Cookie: `baton=${session.cookie.value}` }),
    ],
    ["the service's own token", () => ({ ...service.headers })],
    ['headers that claim an identity', () => ({ 'X-Auth-Subject': 'admin', 'X-Auth-Scope': 'full' })],
  ])('%s is 401 without any identity', async (_what, headers) => {
    const answer = await ask(headers());
    expect(answer.status).toBe(401);
    expect(identityOf(answer)).toEqual({});
  });
});

test('other cookies do not disturb', async () => {
  const cookie = `a=b; baton=${session.cookie.value}; c="d=e"; baton_x=y`;
  expect((await ask({ Cookie: cookie })).status).toBe(200);
});

test('headers of the client do not reach the answer', async () => {
  const answer = await ask({
    Cookie: `baton=${session.cookie.value}`,
    'X-Auth-Subject': 'admin',
    'X-Auth-Roles': 'admin',
  });
  expect(identityOf(answer)).toMatchObject({ 'x-auth-subject': session.subject, 'x-auth-roles': '' });
});

test.each([
  ['POST', '/forward-auth'],
  ['DELETE', '/forward-auth/api/devices/x'],
  ['GET', '/forward-auth/'],
])('an edge may keep method and path of the request: %s %s', async (method, path) => {
  expect((await ask({ Cookie: `baton=${session.cookie.value}` }, path, method)).status).toBe(200);
  expect((await ask({}, path, method)).status).toBe(401);
});

test('a preflight is let through as nobody, however an edge says so, and no other request is', async () => {
  const none = Object.fromEntries(
    ['subject', 'scope', 'meta', 'name', 'roles', 'assertion'].map((name) => [`x-auth-${name}`, '']),
  );
  const askEdge = (method: string, headers: Record<string, string> = {}) =>
    fetch(`${broker.url}/forward-auth`, { method, headers });
  for (const answer of [
    await askEdge('OPTIONS'),
    await askEdge('GET', { 'X-Forwarded-Method': 'OPTIONS' }),
    await askEdge('GET', { 'X-Original-Method': 'OPTIONS' }),
  ]) {
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject(none);
  }
  expect((await askEdge('GET', { 'X-Forwarded-Method': 'POST' })).status).toBe(401);
  // A request that shows a credential is checked.
  expect((await askEdge('OPTIONS', { Authorization: 'Bearer nothing' })).status).toBe(401);
});
