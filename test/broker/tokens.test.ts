import { createPublicKey } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { decodeJwt, decodeProtectedHeader, exportSPKI, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { type IssuedSession, VerifiedIdentity } from '../../shared/contract/modules/broker.ts';
import { startOwnRedis } from '../support/redis/own-redis.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { expectProblem, request } from '../support/wire.ts';
import { type BrokerProcess, OTHER_TOKEN, startBroker, stopBrokers } from './support/brokers.ts';
import { newSubject, type Service, serviceOf } from './support/service.ts';

const keyPrefix = randomPrefix();
let broker: BrokerProcess;
let service: Service;
let session: IssuedSession;
let publicJwk: JWK;
/** The broker's own private key, which it keeps in the store without BROKER_SECRET. */
let privateJwk: JWK;

beforeAll(async () => {
  broker = await startBroker({ keyPrefix });
  service = serviceOf(broker);
  session = await service.mint({ subject: newSubject() });
  const { keys } = (await request(broker, { path: '/.well-known/jwks.json' })).body as { keys: JWK[] };
  publicJwk = keys[0] as JWK;
  const redis = connectTo(sharedRedisUrl());
  const stored = JSON.parse((await redis.hget(`${keyPrefix}:{sys}:keys`, publicJwk.kid as string)) ?? '{}');
  privateJwk = JSON.parse((stored as { sealed: string }).sealed.replace(/^plain:/, '')).private as JWK;
  redis.disconnect();
});
afterAll(stopBrokers);

/** Returns the session's token with other parts, signed by the broker's own key unless told otherwise. */
async function forge(
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
  key?: Parameters<SignJWT['sign']>[0],
): Promise<string> {
  const right = decodeProtectedHeader(session.access_token);
  const all = { ...decodeJwt(session.access_token), ...claims };
  const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(present)
    .setProtectedHeader({ ...right, ...header } as { alg: string })
    .sign(key ?? (await importJWK(privateJwk, 'ES256')));
}

describe('verifying', () => {
  const isIdentity = new Ajv2020({ strict: true }).compile(VerifiedIdentity);

  test.each(['credential', 'access_token'] as const)('by %s tells who it is', async (by) => {
    const text = by === 'credential' ? session.cookie.value : session.access_token;
    const answer = await service.post('/v1/verify', { [by]: text });
    expect(answer.status).toBe(200);
    expect(isIdentity(answer.body)).toBe(true);
    expect(answer.body).toEqual({
      ...{ subject: session.subject, scope: 'full', meta: 'device-0001', name: session.subject, roles: [] },
      ...{ session_id: session.session_id, expires_at: session.expires_at },
    });
  });

  test.each([
    {},
    { credential: 'a', access_token: 'b' },
    { credential: null },
    { access_token: '' },
    { access_token: ['a'] },
    { access_token: 'x'.repeat(4_097) },
  ])('exactly one of credential and access_token is needed: %j', async (body) => {
    expectProblem(await service.post('/v1/verify', body), 'invalid_request');
  });

  test("another app's token is as unknown as none", async () => {
    const stranger = serviceOf(broker, { app: 'other', token: OTHER_TOKEN });
    expectProblem(await stranger.tryVerifyToken(session.access_token), 'session_expired');
  });
});

describe('a token is refused', () => {
  test('the forgery of this test is right but for what each case changes', async () => {
    expect((await service.tryVerifyToken(await forge({}))).status).toBe(200);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['of another issuer', { iss: 'https://elsewhere.example' }, {}],
    ['without issuer', { iss: undefined }, {}],
    ['for another app', { aud: 'other' }, {}],
    ['for several apps', { aud: ['baton', 'other'] }, {}],
    ['without app', { aud: undefined }, {}],
    ['that has expired', { exp: Math.floor(Date.now() / 1000) - 10 }, {}],
    ['that never expires', { exp: undefined }, {}],
    ['whose end is no number', { exp: 'never' }, {}],
    ['of a session that is not there', { sid: 'A'.repeat(44) }, {}],
    ['without session', { sid: undefined }, {}],
    ['of another type', {}, { typ: 'JWT' }],
    ['without type', {}, { typ: undefined }],
    ['with an unknown key id', {}, { kid: 'unknown' }],
    ['without key id', {}, { kid: undefined }],
    ['with the key id of a field that is no key', {}, { kid: 'newest' }],
  ])('%s', async (_what, claims, header) => {
    expectProblem(await service.tryVerifyToken(await forge(claims, header)), 'session_expired');
  });

  test('that is signed by somebody else', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    expectProblem(await service.tryVerifyToken(await forge({}, {}, privateKey)), 'session_expired');
  });

  test('that is not signed', async () => {
    const [, payload] = session.access_token.split('.');
    const header = { ...decodeProtectedHeader(session.access_token), alg: 'none' };
    const text = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.`;
    expectProblem(await service.tryVerifyToken(text), 'session_expired');
  });

  test('that takes the public key for a shared secret', async () => {
    const key = createPublicKey({ key: publicJwk as never, format: 'jwk' });
    const pem = await exportSPKI(key);
    const text = await forge({}, { alg: 'HS256' }, new TextEncoder().encode(pem));
    expectProblem(await service.tryVerifyToken(text), 'session_expired');
  });

  test('that brings its own key', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const text = await forge({}, { jwk: { ...publicJwk }, kid: 'mine' }, pair.privateKey);
    expectProblem(await service.tryVerifyToken(text), 'session_expired');
  });

  test.each(['.', '..', 'a.b.c', 'e30.e30.e30', '\u0000', '💥.💥.💥'])('%j', async (text) => {
    expectProblem(await service.tryVerifyToken(text), 'session_expired');
  });

  test('with another payload under the same signature', async () => {
    const [header, , signature] = session.access_token.split('.');
    const claims = { ...decodeJwt(session.access_token), scope: 'full', sub: 'somebody' };
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
    expectProblem(await service.tryVerifyToken(`${header}.${payload}.${signature}`), 'session_expired');
  });

  test('a flood of unknown key ids is answered without asking the store each time', async () => {
    const own = await startOwnRedis();
    const alone = await startBroker({ redisUrl: own.url });
    const redis = connectTo(own.url);
    const reads = async () => Number(/cmdstat_time:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    const tokens = await Promise.all(Array.from({ length: 200 }, (_, i) => forge({}, { kid: `unknown-${i}` })));
    const before = await reads();
    const answers = await Promise.all(tokens.map((text) => serviceOf(alone).tryVerifyToken(text)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect((await reads()) - before).toBeLessThan(100);
    redis.disconnect();
    await alone.stop();
    await own.stop();
  });
});
