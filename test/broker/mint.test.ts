import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { IssuedSession, type IssuedSession as Issued } from '../../shared/contract/modules/broker.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';
import { type BrokerProcess, OTHER_TOKEN, startBroker, stopBrokers } from './support/brokers.ts';
import { expectEnded, mintOf, newSubject, type Service, serviceOf } from './support/service.ts';

let broker: BrokerProcess;
let service: Service;
let other: Service;
const isIssued = new Ajv2020({ strict: true }).compile(IssuedSession);

beforeAll(async () => {
  broker = await startBroker();
  service = serviceOf(broker);
  other = serviceOf(broker, { app: 'other', token: OTHER_TOKEN });
});
afterAll(stopBrokers);

const issued = (answer: WireAnswer): Issued => answer.body as Issued;

describe('the answer', () => {
  test('a new session has every field of the contract, and no more', async () => {
    const fields = mintOf({ label: 'Küche' });
    const before = Date.now();
    const answer = await service.tryMint(fields);
    expect(answer.status).toBe(201);
    const session = issued(answer);
    expect(isIssued(session)).toBe(true);
    expect(session).toEqual({
      session_id: expect.stringMatching(/^[A-Za-z0-9_-]{44}$/),
      ...{ subject: fields.subject, meta: 'device-0001', label: 'Küche', scope: 'full', tier: 'full' },
      persist: 'persist',
      created_at: expect.any(Number),
      expires_at: session.created_at + 3_600_000,
      cookie: {
        name: 'baton',
        value: expect.stringMatching(new RegExp(`^v1\\.${session.session_id}\\.[A-Za-z0-9_-]{43}$`)),
        max_age_seconds: 3_600,
      },
      access_token: expect.any(String),
      expires_in: 300,
      user: { user_id: fields.subject, name: fields.subject },
    });
    expect(Math.abs(session.created_at - before)).toBeLessThan(60_000);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('the access token is an at+jwt of five minutes that names session, device and scope', async () => {
    const session = await service.mint({ scope: 'guest' });
    expect(decodeProtectedHeader(session.access_token)).toEqual({
      alg: 'ES256',
      typ: 'at+jwt',
      kid: expect.stringMatching(/./),
    });
    const claims = decodeJwt(session.access_token);
    expect(claims).toMatchObject({
      ...{ aud: 'baton', sub: session.subject, sid: session.session_id, meta: 'device-0001', scope: 'guest' },
      exp: (claims.iat ?? 0) + 300,
    });
  });

  test('the access token of a session that ends sooner ends with it', async () => {
    const session = await service.mint({ ttl_seconds: 20 });
    expect(session.expires_in).toBeGreaterThanOrEqual(19);
    expect(session.expires_in).toBeLessThanOrEqual(21);
  });

  test('the cookie of a once session has no lifetime', async () => {
    const session = await service.mint({ persist: 'once' });
    expect(session.cookie.max_age_seconds).toBeNull();
  });
});

describe('one session per user, app and device', () => {
  test('a mint with a new key rotates in place: same id, new secret, new label', async () => {
    const fields = mintOf();
    const first = await service.mint(fields);
    const answer = await service.tryMint({ ...fields, label: 'Renamed', ttl_seconds: 60 });
    expect(answer.status).toBe(200);
    const second = issued(answer);
    expect(second).toMatchObject({ session_id: first.session_id, label: 'Renamed', created_at: first.created_at });
    expect(second.cookie.value).not.toBe(first.cookie.value);
    expect(second.expires_at).toBeLessThan(first.expires_at);
    expect(await service.list(fields.subject)).toMatchObject([{ session_id: first.session_id, label: 'Renamed' }]);
  });

  test('fifty mints with one key at once make one session, and all get the same credential', async () => {
    const [fields, key] = [mintOf(), randomUUID()];
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.tryMint(fields, key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => issued(answer).cookie.value)).size).toBe(1);
    expect(await service.list(fields.subject)).toHaveLength(1);
    await service.verify(issued(answers[0] as WireAnswer).cookie.value);
  });

  test('mints with twenty keys at once make one session, and the last of them alone has its secret', async () => {
    const fields = mintOf();
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.tryMint(fields)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
    expect(new Set(answers.map((answer) => issued(answer).session_id)).size).toBe(1);
    expect(await service.list(fields.subject)).toHaveLength(1);
    const shown = await Promise.all(answers.map((answer) => service.tryVerify(issued(answer).cookie.value)));
    expect(shown.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of shown) if (answer.status !== 200) expectProblem(answer, 'session_expired');
    expect(await service.list(fields.subject)).toHaveLength(1);
  });

  test('another device, another app and another user have sessions of their own', async () => {
    const fields = mintOf();
    const sessions = [
      await service.mint(fields),
      await service.mint({ ...fields, meta: 'device-0002' }),
      await service.mint({ ...fields, subject: newSubject() }),
      await other.mint(fields),
    ];
    expect(new Set(sessions.map(({ session_id }) => session_id)).size).toBe(4);
    expect(await service.list(fields.subject)).toHaveLength(2);
    expect(await other.list(fields.subject)).toHaveLength(1);
  });

  test('after a revocation the device gets another session id', async () => {
    const fields = mintOf();
    const first = await service.mint(fields);
    await service.tryRevoke({ subject: fields.subject, session_id: first.session_id, reason: 'revoked' });
    const answer = await service.tryMint(fields);
    expect(answer.status).toBe(201);
    expect(issued(answer).session_id).not.toBe(first.session_id);
    expectEnded(await service.tryVerify(first.cookie.value), 'session_revoked');
    await service.verify(issued(answer).cookie.value);
  });
});

describe('a key that comes again', () => {
  test('answers the same session, secret and status', async () => {
    const [fields, key] = [mintOf(), randomUUID()];
    const first = await service.tryMint(fields, key);
    const again = await service.tryMint(fields, key);
    expect(again.status).toBe(201);
    const { cookie, ...told } = issued(again);
    expect(cookie.value).toBe(issued(first).cookie.value);
    expect(issued(first)).toMatchObject({ ...told, access_token: expect.any(String), expires_in: expect.any(Number) });
  });

  test('answers the same also after the credential was used, and when the label differs', async () => {
    const [fields, key] = [mintOf(), randomUUID()];
    const first = await service.mint(fields, key);
    await service.verify(first.cookie.value);
    const again = await service.tryMint({ ...fields, label: 'Laptop 2' }, key);
    expect(again.status).toBe(201);
    expect(issued(again)).toMatchObject({ cookie: { value: first.cookie.value }, label: 'Laptop' });
  });

  test('is refused once the secret was rotated', async () => {
    const [fields, key] = [mintOf(), randomUUID()];
    const first = await service.mint(fields, key);
    const rotated = await service.rotate(first.cookie.value);
    expectProblem(await service.tryMint(fields, key), 'already_decided');
    await service.verify(rotated.cookie.value);
  });

  test('is refused once another mint came after it', async () => {
    const [fields, key] = [mintOf(), randomUUID()];
    await service.mint(fields, key);
    await service.mint(fields);
    expectProblem(await service.tryMint(fields, key), 'already_decided');
  });

  test('is refused once the session was revoked', async () => {
    const [fields, key] = [mintOf(), randomUUID()];
    const first = await service.mint(fields, key);
    await service.tryRevoke({ subject: fields.subject, session_id: first.session_id, reason: 'revoked' });
    expectProblem(await service.tryMint(fields, key), 'already_decided');
    expect(await service.list(fields.subject)).toEqual([]);
  });

  test.each([{ scope: 'guest' }, { persist: 'once' }, { meta: 'device-0002' }] as const)(
    'is refused when it asks for something else: %j',
    async (change) => {
      const [fields, key] = [mintOf(), randomUUID()];
      await service.mint(fields, key);
      expectProblem(await service.tryMint({ ...fields, ...change }, key), 'idempotency_key_reused');
      expect(await service.list(fields.subject)).toMatchObject([{ meta: 'device-0001', scope: 'full' }]);
    },
  );

  test('belongs to its user and app alone', async () => {
    const [fields, key] = [mintOf(), randomUUID()];
    const values = [
      await service.mint(fields, key),
      await service.mint({ ...fields, subject: newSubject() }, key),
      await other.mint(fields, key),
    ].map(({ cookie }) => cookie.value.split('.')[2]);
    expect(new Set(values).size).toBe(3);
  });
});

describe('a mint over a live session', () => {
  const CHANGES = [
    ['a guest becomes full', { scope: 'guest', caller_tier: 'full' }, { scope: 'full' }],
    ['a full session becomes a guest', { scope: 'full' }, { scope: 'guest' }],
    ['once becomes persist', { persist: 'once' }, { persist: 'persist' }],
    ['persist becomes once', { persist: 'persist' }, { persist: 'once' }],
    ['nothing changes', {}, {}],
  ] as const;

  test.each(CHANGES)(
    'ends every secret before it at once, and the session goes on: %s',
    async (_what, was, becomes) => {
      const fields = mintOf(was);
      const minted = await service.mint(fields);
      const rotated = await service.rotate(minted.cookie.value);
      await service.verify(rotated.cookie.value);
      const last = await service.mint({ ...fields, ...becomes });

      expect(last.session_id).toBe(minted.session_id);
      for (const old of [minted, rotated]) {
        expectProblem(await service.tryVerify(old.cookie.value), 'session_expired');
        expectProblem(await service.tryRotate(old.cookie.value), 'session_expired');
      }
      // The holder of the old credentials may be somebody else, and cannot end a session that it no longer holds.
      const shown = await service.verify((await service.rotate(last.cookie.value)).cookie.value);
      expect(shown).toMatchObject({ scope: last.scope, session_id: last.session_id });
    },
  );

  test('refuses the old secrets also after the new one was used and rotated', async () => {
    const fields = mintOf({ scope: 'guest' });
    const old = await service.mint(fields);
    const first = await service.mint({ ...fields, scope: 'full' });
    await service.verify(first.cookie.value);
    const next = await service.rotate(first.cookie.value);
    await service.verify(next.cookie.value);
    expectProblem(await service.tryRotate(old.cookie.value), 'session_expired');
    expect((await service.verify(next.cookie.value)).scope).toBe('full');
  });

  test('refuses access tokens of another scope at once, and no others', async () => {
    const fields = mintOf({ scope: 'guest' });
    const guest = await service.mint(fields);
    expect((await service.tryVerifyToken(guest.access_token)).status).toBe(200);
    const full = await service.mint({ ...fields, scope: 'full' });
    expectProblem(await service.tryVerifyToken(guest.access_token), 'session_expired');
    const renewed = await service.mint({ ...fields, scope: 'full' });
    expect((await service.tryVerifyToken(full.access_token)).body).toMatchObject({ scope: 'full' });
    const fallen = await service.mint({ ...fields, scope: 'guest' });
    for (const old of [guest, full, renewed]) {
      expectProblem(await service.tryVerifyToken(old.access_token), 'session_expired');
    }
    expect((await service.tryVerifyToken(fallen.access_token)).body).toMatchObject({ scope: 'guest' });
  });

  test('is repeated by its key alone, while its secret is the present one', async () => {
    const [fields, key] = [mintOf({ scope: 'guest' }), randomUUID()];
    await service.mint(fields);
    const full = await service.mint({ ...fields, scope: 'full' }, key);
    const again = await service.tryMint({ ...fields, scope: 'full' }, key);
    expect({ status: again.status, value: issued(again).cookie.value }).toEqual({
      status: 200,
      value: full.cookie.value,
    });
    const last = await service.mint({ ...fields, scope: 'guest' });
    expectProblem(await service.tryMint({ ...fields, scope: 'full' }, key), 'already_decided');
    expect((await service.verify(last.cookie.value)).scope).toBe('guest');
  });
});

describe('tiers', () => {
  test('a guest cannot mint a full session', async () => {
    const fields = mintOf({ caller_tier: 'guest', scope: 'full' });
    expectProblem(await service.tryMint(fields), 'tier_exceeded');
    expect(await service.list(fields.subject)).toEqual([]);
  });

  test.each([
    ['guest', 'guest'],
    ['full', 'guest'],
    ['full', 'full'],
  ] as const)('a caller of tier %s may mint %s', async (callerTier, scope) => {
    expect(await service.mint({ caller_tier: callerTier, scope })).toMatchObject({ scope, tier: scope });
  });
});

describe('a malformed request', () => {
  const WRONG: [string, unknown][] = [
    ...([undefined, null, '', 7, 'a b', 'ü', 'x'.repeat(256), 'a\nb'] as const).map((value): [string, unknown] => [
      'subject',
      value,
    ]),
    ...([undefined, '', 'a b', 'x'.repeat(129), 'a\u0000'] as const).map((value): [string, unknown] => ['meta', value]),
    ...([undefined, '', 'x'.repeat(65), 'a\u0007', ['a']] as const).map((value): [string, unknown] => ['label', value]),
    ...([undefined, 'FULL', 'full,guest', 'admin', true] as const).map((value): [string, unknown] => ['scope', value]),
    ...([undefined, 'forever', false] as const).map((value): [string, unknown] => ['persist', value]),
    ...([undefined, 0, -1, 1.5, '60', 10 ** 12, Number.MAX_VALUE] as const).map((value): [string, unknown] => [
      'ttl_seconds',
      value,
    ]),
    ...([undefined, 'true', 1] as const).map((value): [string, unknown] => ['sliding', value]),
    ...([undefined, 'android', ''] as const).map((value): [string, unknown] => ['device_type', value]),
    ...([undefined, 'root'] as const).map((value): [string, unknown] => ['caller_tier', value]),
    ...([undefined, 'elsewhere'] as const).map((value): [string, unknown] => ['origin', value]),
  ];

  test.each(WRONG)('%s may not be %j', async (field, value) => {
    const answer = await service.post('/v1/sessions', { ...mintOf(), [field]: value }, { 'Idempotency-Key': 'k' });
    const { errors } = expectProblem(answer, 'invalid_request');
    expect(errors?.map(({ path }) => path)).toContain(`/body/${field}`);
  });

  test.each([{}, { 'Idempotency-Key': '' }, { 'Idempotency-Key': 'a b' }, { 'Idempotency-Key': 'x'.repeat(65) }])(
    'the key must be there and well-formed: %j',
    async (headers) => {
      const { errors } = expectProblem(await service.post('/v1/sessions', mintOf(), headers), 'invalid_request');
      expect(errors?.map(({ path }) => path)).toEqual(['/header/Idempotency-Key']);
    },
  );

  test('a repeated key is none', async () => {
    const headers = { ...service.headers, 'Idempotency-Key': ['one', 'two'] };
    expectProblem(
      await request(broker, { method: 'POST', path: '/v1/sessions', headers, body: mintOf() }),
      'invalid_request',
    );
  });

  test('unknown fields are ignored', async () => {
    const answer = await service.post('/v1/sessions', { ...mintOf(), later: 1 }, { 'Idempotency-Key': randomUUID() });
    expect(answer.status).toBe(201);
  });

  test('the body must be JSON, said to be JSON, and small', async () => {
    const headers = { ...service.headers, 'Idempotency-Key': 'k' };
    const send = (body: Buffer, type = 'application/json') =>
      request(broker, { method: 'POST', path: '/v1/sessions', headers: { ...headers, 'Content-Type': type }, body });
    expectProblem(await send(Buffer.from('{')), 'invalid_request');
    expectProblem(await send(Buffer.from('[]')), 'invalid_request');
    expectProblem(await send(Buffer.from('{}'), 'text/plain'), 'unsupported_media_type');
    expectProblem(await send(Buffer.alloc(200_000, ' ')), 'body_too_large');
  });
});
