import { randomUUID } from 'node:crypto';
import type { IssuedSession } from '../../shared/contract/modules/broker.ts';
import { expectProblem, type WireAnswer } from '../support/wire.ts';
import { type BrokerProcess, eventually, OTHER_TOKEN, startBroker, stopBrokers } from './support/brokers.ts';
import { expectEnded, mintOf, newSubject, type Service, serviceOf } from './support/service.ts';

/** The grace of the contract is a minute. Here it ends while a test waits. */
const SHORT_GRACE_SECONDS = 4;

let broker: BrokerProcess;
let service: Service;
/** The same service, with a grace that is soon over. */
let strict: Service;

beforeAll(async () => {
  const [usual, short] = await Promise.all([
    startBroker(),
    startBroker({ env: { BROKER_GRACE_SECONDS: String(SHORT_GRACE_SECONDS) } }),
  ]);
  broker = usual;
  service = serviceOf(usual);
  strict = serviceOf(short);
});
afterAll(stopBrokers);

const credentialOf = (session: IssuedSession): string => session.cookie.value;
const mint = async (of: Service, fields = {}) => credentialOf(await of.mint(fields));
const rotate = async (of: Service, credential: string) => credentialOf(await of.rotate(credential));

/** Shows the credential until it is refused. Within its grace it works. */
const untilRefused = (of: Service, credential: string): Promise<WireAnswer> =>
  eventually('the old secret is refused', async () => {
    const answer = await of.tryVerify(credential);
    return answer.status === 200 ? null : answer;
  });

test('a rotation answers as a mint does, with another secret of the same session', async () => {
  const first = await service.mint();
  const second = await service.rotate(credentialOf(first));
  expect(second).toEqual({
    ...first,
    expires_at: expect.any(Number),
    cookie: { ...first.cookie, value: expect.stringMatching(new RegExp(`^v1\\.${first.session_id}\\.`)) },
    access_token: expect.any(String),
  });
  expect(credentialOf(second)).not.toBe(credentialOf(first));
  expect(await service.verify(credentialOf(second))).toMatchObject({ session_id: first.session_id });
});

describe('the end of the session', () => {
  test('slides with every rotation of a persist session', async () => {
    const first = await service.mint({ ttl_seconds: 1_000 });
    const second = await service.rotate(credentialOf(first));
    expect(second.expires_at).toBeGreaterThan(first.expires_at);
    expect(second.expires_at - first.expires_at).toBeLessThan(60_000);
    expect((await service.list(first.subject))[0]?.expires_at).toBe(second.expires_at);
  });

  test.each([
    { persist: 'once', sliding: false },
    { persist: 'once', sliding: true },
    { persist: 'persist', sliding: false },
  ] as const)('stays where it is: %j', async (kind) => {
    const first = await service.mint(kind);
    expect((await service.rotate(credentialOf(first))).expires_at).toBe(first.expires_at);
  });

  test('ends it for everybody', async () => {
    const session = await service.mint({ ttl_seconds: 1, persist: 'once' });
    expectProblem(await untilRefused(service, credentialOf(session)), 'session_expired');
    expectProblem(await service.tryRotate(credentialOf(session)), 'session_expired');
    expectProblem(await service.tryVerifyToken(session.access_token), 'session_expired');
    expect(await service.list(session.subject)).toEqual([]);
  });

  test('a sliding session outlives its lifetime as long as it is rotated, and is found again by its device', async () => {
    const fields = mintOf({ ttl_seconds: 5 });
    const first = await service.mint(fields);
    let last = first;
    await eventually('more than one lifetime has passed', async () => {
      last = await service.rotate(credentialOf(last));
      return last.expires_at > first.created_at + 10_000 ? true : null;
    });
    expect((await service.mint({ ...fields, ttl_seconds: 60 })).session_id).toBe(first.session_id);
  });
});

describe('several tabs', () => {
  test('that rotate the same secret at once all get the same new one', async () => {
    const first = await mint(service);
    const values = await Promise.all(Array.from({ length: 20 }, () => rotate(service, first)));
    expect(new Set(values).size).toBe(1);
    await service.verify(values[0] as string);
  });

  test('a tab that is one or several rotations late still gets the present secret', async () => {
    const first = await mint(service);
    const second = await rotate(service, first);
    const third = await rotate(service, second);
    const fourth = await rotate(service, third);
    expect(await rotate(service, first)).toBe(fourth);
    expect(await rotate(service, second)).toBe(fourth);
    await service.verify(fourth);
  });

  test('a lost answer is had again by asking again, although the secret is stored nowhere', async () => {
    const first = await mint(service);
    const lost = await rotate(service, first);
    expect(await rotate(service, first)).toBe(lost);
  });

  test('a tab that is further behind than can be followed gets a secret of its own, and nobody is signed out', async () => {
    const first = await mint(service);
    let last = first;
    for (let i = 0; i < 10; i++) last = await rotate(service, last);
    const late = await rotate(service, first);
    expect(late).not.toBe(last);
    await service.verify(late);
    await service.verify(last);
    await service.verify(await rotate(service, last));
  });
});

describe('the secret before', () => {
  test('works as long as nobody has used the new one', async () => {
    const first = await mint(strict);
    await rotate(strict, first);
    // The wait is longer than the grace of the strict broker, which begins only with the first use of the new secret.
    const startedAt = Date.now();
    await eventually('twice the grace has passed', async () => {
      expect((await strict.tryVerify(first)).status).toBe(200);
      return Date.now() - startedAt > 2_000 * SHORT_GRACE_SECONDS ? true : null;
    });
  });

  test('works for a while after the first use of the new one; then its use ends the session', async () => {
    const fields = { subject: newSubject() };
    const first = await mint(strict, fields);
    const second = await rotate(strict, first);
    await strict.verify(second);
    await strict.verify(first);
    expectEnded(await untilRefused(strict, first), 'reuse_detected');
    expectEnded(await strict.tryVerify(second), 'reuse_detected');
    expectEnded(await strict.tryRotate(second), 'reuse_detected');
    expect(await strict.list(fields.subject)).toEqual([]);
  });

  test('shown to be rotated after its time, ends the session just as well', async () => {
    const first = await mint(strict);
    const second = await rotate(strict, first);
    const third = await rotate(strict, second);
    const refused = await eventually('the old secret is refused', async () => {
      const answer = await strict.tryRotate(first);
      return answer.status === 200 ? null : answer;
    });
    expectEnded(refused, 'reuse_detected');
    expectEnded(await strict.tryVerify(third), 'reuse_detected');
  });

  test('its access token is refused too after the reuse', async () => {
    const session = await strict.mint();
    const second = await strict.rotate(credentialOf(session));
    await strict.verify(credentialOf(second));
    await untilRefused(strict, credentialOf(session));
    expectEnded(await strict.tryVerifyToken(second.access_token), 'reuse_detected');
  });

  test('starts no clock when only an access token is used', async () => {
    const first = await strict.mint();
    const second = await strict.rotate(credentialOf(first));
    const startedAt = Date.now();
    await eventually('twice the grace has passed', async () => {
      expect((await strict.tryVerifyToken(second.access_token)).status).toBe(200);
      return Date.now() - startedAt > 2_000 * SHORT_GRACE_SECONDS ? true : null;
    });
    await strict.verify(credentialOf(first));
  });
});

describe('what is no credential', () => {
  const other = (text: string) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A');

  test.each<[string, (right: string) => string]>([
    ['another secret', (right) => `${right.slice(0, right.lastIndexOf('.'))}.${'A'.repeat(43)}`],
    ['another session id', (right) => right.replace(/^v1\../, right[3] === 'A' ? 'v1.B' : 'v1.A')],
    ['another version', (right) => right.replace('v1', 'v2')],
    ['no dots', (right) => right.replaceAll('.', '')],
    ['something behind', (right) => `${right}=`],
    ['something before', (right) => ` ${right}`],
    ['the secret alone', (right) => right.split('.')[2] as string],
    ['text', () => 'let me in'],
  ])('%s is refused and ends nothing', async (_what, make) => {
    const right = await mint(service);
    expectProblem(await service.tryRotate(make(right)), 'session_expired');
    expectProblem(await service.tryVerify(make(right)), 'session_expired');
    await service.verify(right);
  });

  test('a secret that is wrong in one bit ends nothing', async () => {
    const right = await mint(service);
    expectProblem(await service.tryRotate(other(right)), 'session_expired');
    await service.verify(right);
  });

  test.each([undefined, null, '', 7, {}, ['v1'], 'x'.repeat(4_097)])('%j is malformed', async (credential) => {
    expectProblem(await service.post('/v1/sessions/rotate', { credential }), 'invalid_request');
  });

  test("another app's session is as unknown as none", async () => {
    const stranger = serviceOf(broker, { app: 'other', token: OTHER_TOKEN });
    const right = await mint(service);
    expectProblem(await stranger.tryRotate(right), 'session_expired');
    expectProblem(await stranger.tryVerify(right), 'session_expired');
    await service.verify(right);
  });

  test('a revoked session is told as such', async () => {
    const session = await service.mint();
    await service.tryRevoke({ subject: session.subject, session_id: session.session_id, reason: 'logout' });
    expectEnded(await service.tryRotate(credentialOf(session)), 'session_revoked');
    expectEnded(await service.tryVerify(credentialOf(session)), 'session_revoked');
    expectEnded(await service.tryVerifyToken(session.access_token), 'session_revoked');
    // Other services do not learn who had the session.
    const stranger = serviceOf(broker, { app: 'other', token: OTHER_TOKEN });
    for (const answer of [
      await stranger.tryVerify(credentialOf(session)),
      await stranger.tryRotate(credentialOf(session)),
      await stranger.tryVerifyToken(session.access_token),
    ]) {
      expectProblem(answer, 'session_expired');
    }
  });
});

test('rotations, mints and revocations at once leave one session or none', async () => {
  const fields = mintOf();
  const first = await service.mint(fields);
  const acts = [
    ...Array.from({ length: 10 }, () => service.tryRotate(credentialOf(first))),
    ...Array.from({ length: 10 }, () => service.tryMint(fields, randomUUID())),
    service.tryRevoke({ subject: fields.subject, meta: fields.meta, reason: 'revoked' }),
  ];
  const answers = await Promise.all(acts);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect((await service.list(fields.subject)).length).toBeLessThanOrEqual(1);
  // Anything after the revocation has another session. The revoked one is useless.
  expect((await service.tryVerify(credentialOf(first))).status).toBe(401);
});
