import { createHmac } from 'node:crypto';
import { exportSPKI } from 'jose';
import { type KeyServer, makeSigner, type Signer, startKeyServer } from '../../edge/key-server.ts';
import { makeDevice, randomUser } from '../../support/device.ts';
import { sharedRedisUrl } from '../../support/redis/redis.ts';
import { type ReplicaProcess, startReplica } from '../../support/replicas.ts';
import { routesWhere, sampleRequest, refusesStrangers } from '../../support/samples.ts';
import { type Site, startSite } from '../../support/site.ts';
import { expectProblem, request } from '../../support/wire.ts';

/* Identity mode `edge` with `APP_EDGE_TRUST=jwt` (CONTRACT.md, "Identity"): the claims of one signed header, and nothing else. */

const ISSUER = 'https://baton.example';

let server: KeyServer;
let signer: Signer;
let stranger: Signer;
let site: Site;
beforeAll(async () => {
  [signer, stranger] = await Promise.all([makeSigner('k1'), makeSigner('k1')]);
  server = await startKeyServer(signer.jwk);
  site = await startSite({ ...jwtEnv(server.url), APP_LOG_LEVEL: 'info' }, { alone: true });
});
afterAll(async () => {
  await site.stop();
  await server.stop();
});

const jwtEnv = (url: string): Record<string, string> => ({
  APP_IDENTITY: 'edge',
  APP_EDGE_TRUST: 'jwt',
  APP_EDGE_JWKS_URL: url,
  APP_EDGE_ISSUER: ISSUER,
  APP_EDGE_AUDIENCE: 'baton',
});

type Headers = Record<string, string | string[]>;
const user = randomUser();
const now = () => Math.floor(Date.now() / 1000);
/** Returns claims that are all right, except the changed ones. */
const claims = (changed: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...{ iss: ISSUER, aud: 'baton', sub: user, scope: 'full', meta: '', name: 'Zoë', roles: ['admin'] },
  ...{ iat: now(), exp: now() + 60 },
  ...changed,
});
const askMe = (headers: Headers, replica: ReplicaProcess = site.one) => request(replica, { path: '/api/me', headers });
const askWith = async (assertion: string | Promise<string>) => askMe({ 'X-Auth-Assertion': await assertion });

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const without = (claim: string): Record<string, unknown> => {
  const { [claim]: _, ...rest } = claims();
  return rest;
};

test('the caller is who the claims say', async () => {
  const answer = await askWith(signer.sign(claims()));
  expect(answer.body).toMatchObject({ user_id: user, name: 'Zoë', scope: 'full', roles: ['admin'], device: null });
});

test('a device is its own', async () => {
  const dev = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix });
  const device = makeDevice({ user, name: 'Laptop' });
  await device.on(dev).call('getMe');
  const answer = await askWith(signer.sign(claims({ meta: device.id })));
  expect(answer.body).toMatchObject({ device: { device_id: device.id, name: 'Laptop' } });
});

test('claims that nobody made mean less, never more', async () => {
  expect((await askWith(signer.sign(claims({ name: 7, roles: 'admin' })))).body).toMatchObject({
    name: user,
    roles: [],
  });
  for (const changed of [
    { scope: 'Full' },
    { scope: ['full'] },
    { scope: '' },
    { sub: '' },
    { sub: 'zoë' },
    { meta: 7 },
  ])
    expectProblem(await askWith(signer.sign(claims(changed))), 'unauthenticated');
  for (const claim of ['scope', 'sub']) expectProblem(await askWith(signer.sign(without(claim))), 'unauthenticated');
});

test('other identity headers change nothing', async () => {
  const forged = { 'X-Auth-Subject': ['admin', 'root'], 'X-Auth-Scope': 'full', 'X-Edge-Secret': 'x'.repeat(32) };
  const headers = { ...forged, 'X-Auth-Assertion': await signer.sign(claims({ scope: 'guest' })) };
  expect((await askMe(headers)).body).toMatchObject({ user_id: user, scope: 'guest' });
});

test.each(routesWhere(refusesStrangers))('%s believes no header without assertion', async (name) => {
  const own = makeDevice({ user });
  const headers = { 'X-Auth-Subject': user, 'X-Auth-Scope': 'full', 'X-Auth-Meta': own.id };
  expectProblem(await request(site.one, { ...sampleRequest(name, { own, other: own }), headers }), 'untrusted_edge');
});

test.each([{ typ: undefined }, { kid: undefined }, { typ: 'jwt' }, { typ: 'application/jwt' }])(
  'a header with %j is an assertion like any other',
  async (header) => {
    expect((await askWith(signer.sign(claims(), header))).status).toBe(200);
  },
);

test('nothing at all is nobody', async () => {
  expectProblem(await askMe({}), 'unauthenticated');
  expectProblem(await askMe({ 'X-Auth-Assertion': '' }), 'unauthenticated');
});

test('an assertion beside another one, or beside its twin, is refused', async () => {
  const assertion = await signer.sign(claims());
  expectProblem(await askMe({ 'X-Auth-Assertion': [assertion, assertion] }), 'invalid_request');
  expectProblem(await askMe({ 'X-Auth-Assertion': assertion, X_Auth_Assertion: assertion }), 'invalid_request');
  expectProblem(await askMe({ 'X-Auth-Assertion': `${assertion}, ${assertion}` }), 'untrusted_edge');
});

describe('not believed is', () => {
  test.each<[string, () => string | Promise<string>]>([
    ['no signature (alg none)', () => `${encoded({ alg: 'none', typ: 'JWT', kid: 'k1' })}.${encoded(claims())}.`],
    [
      'a signature taken off',
      async () =>
        (await signer.sign(claims()))
          .split('.')
          .map((part, i) => (i === 2 ? '' : part))
          .join('.'),
    ],
    ['a signature of somebody else under the known key id', () => stranger.sign(claims())],
    ['a key that it brings along', () => stranger.sign(claims(), { jwk: stranger.jwk })],
    ['an address of keys that it brings along', () => stranger.sign(claims(), { jku: `${server.url}?mine` })],
    ['another type', () => signer.sign(claims(), { typ: 'at+jwt' })],
    ['a signature of somebody else without a key id', () => stranger.sign(claims(), { kid: undefined })],
    ['another issuer', () => signer.sign(claims({ iss: `${ISSUER}/` }))],
    ['no issuer', () => signer.sign(without('iss'))],
    ['another audience', () => signer.sign(claims({ aud: 'other' }))],
    ['no audience', () => signer.sign(without('aud'))],
    ['expired', () => signer.sign(claims({ iat: now() - 60, exp: now() - 10 }))],
    ['no end', () => signer.sign(without('exp'))],
    ['no beginning', () => signer.sign(without('iat'))],
    ['from the future', () => signer.sign(claims({ iat: now() + 30, exp: now() + 60 }))],
    ['not yet valid', () => signer.sign(claims({ nbf: now() + 30 }))],
    ['longer than a minute', () => signer.sign(claims({ exp: now() + 61 }))],
    ['long ago and for long', () => signer.sign(claims({ iat: now() - 600, exp: now() + 60 }))],
    ['rubbish', () => 'x.y.z'],
  ])('%s', async (_, make) => {
    expectProblem(await askWith(make()), 'untrusted_edge');
  });

  test('a signature by HMAC with the public key as its secret', async () => {
    const head = `${encoded({ alg: 'HS256', typ: 'JWT', kid: 'k1' })}.${encoded(claims())}`;
    for (const secret of [await exportSPKI(signer.publicKey), JSON.stringify(signer.jwk), signer.jwk.x ?? '']) {
      const mac = createHmac('sha256', secret).update(head).digest('base64url');
      expectProblem(await askWith(`${head}.${mac}`), 'untrusted_edge');
    }
  });
});

test('a flood of unknown key ids does not reach the place of the keys', async () => {
  await askWith(signer.sign(claims()));
  const before = server.fetches();
  const strangers = await Promise.all(Array.from({ length: 50 }, (_, i) => stranger.sign(claims(), { kid: `k-${i}` })));
  for (const answer of await Promise.all(strangers.map(askWith))) expectProblem(answer, 'untrusted_edge');
  // There is one fetch if half a minute had passed since the last.
  expect(server.fetches() - before).toBeLessThanOrEqual(1);
});

test('with the place of the keys down, known keys go on', async () => {
  server.answerWith((res) => res.destroy());
  try {
    expect((await askWith(signer.sign(claims()))).status).toBe(200);
    expectProblem(await askWith(stranger.sign(claims(), { kid: 'k2' })), 'untrusted_edge');
    expect((await askWith(signer.sign(claims()))).status).toBe(200);
  } finally {
    server.answerKeys();
  }
});

test('a replica that never had keys says so, and asks a stream to come back', async () => {
  const dark = await startKeyServer();
  dark.answerWith((res) => res.writeHead(500).end());
  const replica = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix, env: jwtEnv(dark.url) });
  const headers = { 'X-Auth-Assertion': await signer.sign(claims()) };
  expectProblem(await askMe(headers, replica), 'broker_unavailable');
  expect((await request(replica, { path: '/healthz' })).status).toBe(200);
  const answer = await fetch(`${replica.url}/api/hub/events?name=Tab`, { headers });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toMatch(/^retry: \d+\nevent: reconnect\ndata: {"reason":"store","retry_ms":\d+}\n\n$/);
  await replica.stop();
  await dark.stop();
});

test('no assertion is in the log', async () => {
  const assertion = await signer.sign(claims());
  await askWith(assertion);
  await askWith(`${assertion}x`);
  expect(site.one.log()).toContain('/api/me');
  expect(site.one.log()).not.toContain(assertion.slice(-40));
});
