import { Ajv2020 } from 'ajv/dist/2020.js';
import { BrokerSessions } from '../../shared/contract/modules/broker.ts';
import { expectProblem, request } from '../support/wire.ts';
import { type BrokerProcess, OTHER_TOKEN, startBroker, stopBrokers } from './support/brokers.ts';
import { locationOf, makeBrowser } from './support/browser.ts';
import { expectEnded, newSubject, type Service, serviceOf } from './support/service.ts';

let broker: BrokerProcess;
let service: Service;
let other: Service;
const isListing = new Ajv2020({ strict: true }).compile(BrokerSessions);

beforeAll(async () => {
  broker = await startBroker({ env: { BROKER_DEV_LOGIN: 'true' } });
  service = serviceOf(broker);
  other = serviceOf(broker, { app: 'other', token: OTHER_TOKEN });
});
afterAll(stopBrokers);

describe('revoking', () => {
  test.each(['session_id', 'meta'] as const)('by %s ends the session at once, for cookie and token', async (by) => {
    const session = await service.mint();
    const { subject, cookie, access_token: token } = session;
    const answer = await service.tryRevoke({ subject, [by]: session[by], reason: 'revoked' });
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' });
    expectEnded(await service.tryVerify(cookie.value), 'session_revoked', session);
    expectEnded(await service.tryVerifyToken(token), 'session_revoked', session);
    expect(await service.list(subject)).toEqual([]);
  });

  test('twice is the same as once', async () => {
    const { subject, session_id: id, meta } = await service.mint();
    expect((await service.tryRevoke({ subject, session_id: id, reason: 'revoked' })).status).toBe(204);
    expect((await service.tryRevoke({ subject, session_id: id, reason: 'logout' })).status).toBe(204);
    expect((await service.tryRevoke({ subject, meta, reason: 'logout' })).status).toBe(204);
  });

  test('ends that session alone', async () => {
    const subject = newSubject();
    const [one, two] = [await service.mint({ subject }), await service.mint({ subject, meta: 'device-0002' })];
    await service.tryRevoke({ subject, session_id: one.session_id, reason: 'revoked' });
    expect(await service.list(subject)).toMatchObject([{ session_id: two.session_id }]);
    await service.verify(two.cookie.value);
  });

  test('what is not there, or not yours, is answered alike and changes nothing', async () => {
    const session = await service.mint();
    const { subject, session_id: id, meta } = session;
    const stranger = newSubject();
    const refused = [
      await service.tryRevoke({ subject, session_id: 'A'.repeat(44), reason: 'revoked' }),
      await service.tryRevoke({ subject, meta: 'device-9999', reason: 'revoked' }),
      await service.tryRevoke({ subject: stranger, session_id: id, reason: 'revoked' }),
      await service.tryRevoke({ subject: stranger, meta, reason: 'revoked' }),
      await other.tryRevoke({ subject, session_id: id, reason: 'revoked' }),
      await other.tryRevoke({ subject, meta, reason: 'revoked' }),
    ];
    for (const answer of refused) expectProblem(answer, 'not_found');
    const texts = refused.map(({ text }) => text.replace(/"request_id":"[^"]*"/, ''));
    expect(new Set(texts).size).toBe(1);
    await service.verify(session.cookie.value);
  });

  test.each<[string, unknown]>([
    ['subject', undefined],
    ['subject', ''],
    ['session_id', ''],
    ['session_id', null],
    ['meta', ''],
    ['reason', undefined],
    ['reason', ''],
    ['reason', 'a\nb'],
  ])('%s may not be %j', async (field, value) => {
    const right = { subject: 'a', reason: 'revoked', [field === 'meta' ? 'meta' : 'session_id']: 'A'.repeat(44) };
    const answer = await service.post('/v1/sessions/revoke', { ...right, [field]: value });
    const { errors } = expectProblem(answer, 'invalid_request');
    expect(errors?.map(({ path }) => path)).toContain(`/body/${field}`);
  });

  test.each([{}, { session_id: 'A'.repeat(44), meta: 'device-0001' }])(
    'exactly one of session_id and meta is needed: %j',
    async (which) => {
      const answer = await service.post('/v1/sessions/revoke', { subject: 'a', reason: 'revoked', ...which });
      const { errors } = expectProblem(answer, 'invalid_request');
      expect(errors?.map(({ path }) => path).sort()).toEqual(['/body/meta', '/body/session_id']);
    },
  );
});

describe('listing', () => {
  test('tells every field of the contract, and no secret', async () => {
    const session = await service.mint({ scope: 'guest', persist: 'once', label: 'Phone' });
    const answer = await service.page(session.subject);
    expect(isListing(answer.body)).toBe(true);
    expect(answer.body).toEqual({
      sessions: [
        {
          ...{ session_id: session.session_id, meta: session.meta, label: 'Phone', scope: 'guest', tier: 'guest' },
          persist: 'once',
          created_at: session.created_at,
          last_active_at: session.created_at,
          expires_at: session.expires_at,
        },
      ],
      next_cursor: null,
    });
  });

  test('shows a rotation as activity', async () => {
    const session = await service.mint();
    await service.rotate(session.cookie.value);
    const [listed] = await service.list(session.subject);
    expect(listed?.last_active_at).toBeGreaterThan(session.created_at);
  });

  test('nobody has nothing', async () => {
    expect((await service.page(newSubject())).body).toEqual({ sessions: [], next_cursor: null });
  });

  test('is of one app and one user', async () => {
    const subject = newSubject();
    const mine = await service.mint({ subject });
    const theirs = await other.mint({ subject });
    expect(await service.list(subject)).toMatchObject([{ session_id: mine.session_id }]);
    expect(await other.list(subject)).toMatchObject([{ session_id: theirs.session_id }]);
  });

  test('goes on over pages until every live session was told once, passing by those that are over', async () => {
    const subject = newSubject();
    const metas = Array.from({ length: 230 }, (_, i) => `device-${String(i).padStart(4, '0')}`);
    for (let i = 0; i < metas.length; i += 23) {
      await Promise.all(metas.slice(i, i + 23).map((meta) => service.mint({ subject, meta })));
    }
    const revoked = metas.filter((_, i) => i % 10 === 0);
    await Promise.all(revoked.map((meta) => service.tryRevoke({ subject, meta, reason: 'revoked' })));
    const told: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const { body } = await service.page(subject, cursor);
      told.push(...body.sessions.map(({ meta }) => meta));
      sizes.push(body.sessions.length);
      cursor = body.next_cursor;
    }
    expect(told.sort()).toEqual(metas.filter((meta) => !revoked.includes(meta)));
    expect(sizes).toEqual([100, 100, 7]);
  });

  test('a login leaves a session without device, which is told with an empty meta and ends after ten minutes', async () => {
    const subject = newSubject();
    const browser = makeBrowser();
    const answer = await browser.submit(`${broker.url}/login/dev`, { user: subject, return_to: '/' });
    expect(answer.status).toBe(303);
    expect(locationOf(answer)).toMatch(/\/$/);
    const [session] = await service.list(subject);
    expect(session).toMatchObject({ meta: '', label: '', persist: 'once', scope: 'full' });
    expect((session?.expires_at ?? 0) - (session?.created_at ?? 0)).toBe(600_000);
  });

  test.each(['x', '1.', '1.short', `${'9'.repeat(16)}.${'A'.repeat(44)}`, `-1.${'A'.repeat(44)}`])(
    'the cursor %j is malformed',
    async (cursor) => {
      expectProblem(await service.page('a', cursor), 'invalid_request');
    },
  );

  test.each(['', '?subject=', '?subject=a%20b', '?subject=a&subject=b', `?subject=${'x'.repeat(256)}`])(
    'the query %j is malformed',
    async (query) => {
      const answer = await request(broker, { path: `/v1/sessions${query}`, headers: service.headers });
      expectProblem(answer, 'invalid_request');
    },
  );
});
