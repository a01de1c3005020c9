import type { Redis } from 'ioredis';
import type { JWK } from 'jose';
import { decodeProtectedHeader } from 'jose';
import { connectTo, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { request } from '../support/wire.ts';
import { type BrokerProcess, eventually, startBroker, stopBrokers } from './support/brokers.ts';
import { type Service, serviceOf } from './support/service.ts';

/** All brokers of a store have one name, as behind one edge. It is the issuer of their tokens. */
const PUBLIC = { BROKER_PUBLIC_URL: 'http://localhost:8090' };
const [OLD, NEW] = ['an-old-secret-of-the-broker-that-is-long', 'a-new-secret-of-the-broker-that-is-long!'];

let redis: Redis;
beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(async () => {
  await stopBrokers();
  redis.disconnect();
});

const keySet = async (broker: BrokerProcess): Promise<JWK[]> => {
  const answer = await request(broker, { path: '/.well-known/jwks.json' });
  expect(answer.status).toBe(200);
  return (answer.body as { keys: JWK[] }).keys;
};
const idsOf = async (broker: BrokerProcess) => (await keySet(broker)).map(({ kid }) => kid);
const signerOf = async (broker: BrokerProcess) =>
  decodeProtectedHeader((await serviceOf(broker).mint()).access_token).kid;

test('the key set has public parts alone, and may be kept for a while', async () => {
  const broker = await startBroker();
  const answer = await request(broker, { path: '/.well-known/jwks.json' });
  expect(answer.headers['content-type']).toMatch(/^application\/jwk-set\+json/);
  expect(answer.headers['cache-control']).toBe('public, max-age=300');
  const base64url = expect.stringMatching(/^[\w-]{43}$/);
  const key = {
    kty: 'EC',
    crv: 'P-256',
    alg: 'ES256',
    use: 'sig',
    kid: expect.any(String),
    x: base64url,
    y: base64url,
  };
  expect(answer.body).toEqual({ keys: [key] });
});

test('brokers of one store are one: one key, and what one gave out the other knows, repeats and exchanges', async () => {
  const keyPrefix = randomPrefix();
  const brokers = await Promise.all([1, 2].map(() => startBroker({ keyPrefix, env: PUBLIC })));
  const signers = await Promise.all(brokers.map(signerOf));
  expect(new Set(signers).size).toBe(1);
  expect(await idsOf(brokers[0] as BrokerProcess)).toEqual([signers[0]]);

  const [one, two] = brokers.map((broker) => serviceOf(broker)) as [Service, Service];
  const fields = { subject: 'anna' };
  const session = await one.mint(fields, 'key-1');
  expect((await two.mint(fields, 'key-1')).cookie.value).toBe(session.cookie.value);
  expect((await two.tryVerifyToken(session.access_token)).status).toBe(200);
  const next = await two.rotate(session.cookie.value);
  expect((await one.rotate(session.cookie.value)).cookie.value).toBe(next.cookie.value);
  await two.tryRevoke({ subject: 'anna', session_id: session.session_id, reason: 'revoked' });
  expect((await one.tryVerifyToken(next.access_token)).status).toBe(401);
});

test('keys take turns: the next is published before it signs, the last stays published after it signed', async () => {
  const broker = await startBroker({ env: { BROKER_KEY_SECONDS: '4', BROKER_KEY_OVERLAP_SECONDS: '4' } });
  const service = serviceOf(broker);
  const first = await signerOf(broker);
  const token = (await service.mint()).access_token;

  const both = await eventually('a second key is published', async () => {
    const ids = await idsOf(broker);
    return ids.length > 1 ? ids : null;
  });
  const second = both[1];
  expect(both[0]).toBe(first);

  await eventually('the second key signs', async () => {
    const signer = await signerOf(broker);
    // Until it signs, the first key does. When it does, both are still published.
    if (signer !== second) expect(signer).toBe(first);
    return signer === second ? true : null;
  });
  expect(await idsOf(broker)).toContain(first);
  expect((await service.tryVerifyToken(token)).status).toBe(200);

  await eventually('the first key is removed', async () => ((await idsOf(broker)).includes(first) ? null : true));
  expect((await service.tryVerifyToken(token)).status).toBe(401);
});

test('a session outlives the key under which it was made', async () => {
  const broker = await startBroker({ env: { BROKER_KEY_SECONDS: '1', BROKER_KEY_OVERLAP_SECONDS: '4' } });
  const service = serviceOf(broker);
  const session = await service.mint();
  const first = decodeProtectedHeader(session.access_token).kid;
  await eventually('the first key is removed', async () => ((await idsOf(broker)).includes(first) ? null : true));
  await service.verify(session.cookie.value);
  const next = await service.rotate(session.cookie.value);
  expect((await service.tryVerifyToken(next.access_token)).status).toBe(200);
});

describe('with BROKER_SECRET', () => {
  const stored = async (keyPrefix: string) => JSON.stringify(await redis.hgetall(`${keyPrefix}:{sys}:keys`));

  test('private keys are sealed in the store; without, they are not', async () => {
    const [sealed, plain] = [randomPrefix(), randomPrefix()];
    await startBroker({ keyPrefix: sealed, env: { BROKER_SECRET: OLD, ...PUBLIC } });
    await startBroker({ keyPrefix: plain });
    expect(await stored(plain)).toContain('private');
    expect(await stored(sealed)).not.toContain('private');
    expect(await stored(sealed)).toContain('a256gcm:');
  });

  test('a key from before there was a secret is sealed, and stays the same key', async () => {
    const keyPrefix = randomPrefix();
    const before = await startBroker({ keyPrefix, env: PUBLIC });
    const session = await serviceOf(before).mint({ subject: 'anna' }, 'key-1');
    expect(await stored(keyPrefix)).toContain('plain:');
    // Two brokers start at the same time, and one that knows of no secret goes on meanwhile.
    const sealing = { keyPrefix, env: { BROKER_SECRET: NEW, ...PUBLIC } };
    const [after, beside] = await Promise.all([startBroker(sealing), startBroker(sealing)]);
    expect(await stored(keyPrefix)).not.toMatch(/plain:|private/);
    expect(await stored(keyPrefix)).toContain('a256gcm:');
    for (const broker of [after, beside, before]) {
      expect(await signerOf(broker)).toBe(await signerOf(before));
      expect((await serviceOf(broker).tryVerifyToken(session.access_token)).status).toBe(200);
    }
    expect((await serviceOf(after).mint({ subject: 'anna' }, 'key-1')).cookie.value).toBe(session.cookie.value);
    await serviceOf(beside).verify(session.cookie.value);
  });

  test('the secret can be changed without signing anybody out', async () => {
    const keyPrefix = randomPrefix();
    const before = await startBroker({ keyPrefix, env: { BROKER_SECRET: OLD, ...PUBLIC } });
    const session = await serviceOf(before).mint({ subject: 'anna' }, 'key-1');
    await before.stop();
    const after = serviceOf(await startBroker({ keyPrefix, env: { BROKER_SECRET: `${NEW},${OLD}`, ...PUBLIC } }));
    expect((await after.tryVerifyToken(session.access_token)).status).toBe(200);
    expect((await after.mint({ subject: 'anna' }, 'key-1')).cookie.value).toBe(session.cookie.value);
  });

  test('with another secret the broker signs with a new key, and sessions and tokens live on', async () => {
    const keyPrefix = randomPrefix();
    const before = await startBroker({ keyPrefix, env: { BROKER_SECRET: OLD, ...PUBLIC } });
    const session = await serviceOf(before).mint();
    const broker = await startBroker({ keyPrefix, env: { BROKER_SECRET: NEW, ...PUBLIC } });
    expect(broker.log()).toContain('key is sealed with another secret');
    const after = serviceOf(broker);
    expect(await signerOf(broker)).not.toBe(await signerOf(before));
    expect((await after.tryVerifyToken(session.access_token)).status).toBe(200);
    await after.verify(session.cookie.value);
    await after.verify((await after.rotate(session.cookie.value)).cookie.value);
  });
});
