import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import type { EndedSession, IssuedSession, MintSession } from '../../../shared/contract/modules/broker.ts';
import { makeBrokerClient, type BrokerClient } from '../../../services/sync/sessions/auth-broker/broker-client.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';
import { mintOf } from '../../broker/support/service.ts';

/* The service's side of the auth broker (CONTRACT.md), with a broker that does what the test says. */

type Serve = (req: IncomingMessage, res: ServerResponse) => void;

let server: Server;
let client: BrokerClient;
let metrics: ReturnType<typeof makeMetrics>;
let serve: Serve;
let asked: IncomingMessage[];
let ended: EndedSession[];

beforeEach(async () => {
  asked = [];
  ended = [];
  server = createServer((req, res) => {
    asked.push(req);
    req.resume().on('end', () => serve(req, res));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  metrics = makeMetrics({ version: '0' });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = makeBrokerClient({
    ...{ url, token: 'the-token', app: 'baton', metrics, logger: pino({ level: 'silent' }) },
    onEnded: (each) => ended.push(each),
  });
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await client.close();
});

const json =
  (status: number, body: unknown): Serve =>
  (_req, res) =>
    void res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
const refusing = (status: number, code: string): Serve => json(status, { code });
const silent: Serve = () => undefined;

const SESSION_ID = 'A'.repeat(44);
const issuedFor = ({ subject, meta, label, scope, persist }: MintSession): IssuedSession => ({
  ...{ session_id: SESSION_ID, subject, meta, label, scope, tier: scope, persist },
  ...{ created_at: Date.now(), expires_at: Date.now() + 3_600_000, access_token: 'token', expires_in: 300 },
  cookie: { name: 'baton', value: `v1.${SESSION_ID}.${'s'.repeat(43)}`, max_age_seconds: 3_600 },
  user: { user_id: subject, name: 'Ann' },
});
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => String((error as { code?: unknown }).code),
  );
const keys = () => asked.map(({ headers }) => headers['idempotency-key']);
const BODY = mintOf();

test('a mint says who asks, and is repeated with the same key until it is answered', async () => {
  serve = (req, res) => (asked.length < 3 ? refusing(503, 'store_unavailable') : json(201, issuedFor(BODY)))(req, res);
  expect((await client.mint(BODY, 'the-key')).session_id).toBe(SESSION_ID);
  expect(keys()).toEqual(['the-key', 'the-key', 'the-key']);
  expect(asked[0]?.headers).toMatchObject({ authorization: 'Bearer the-token', 'x-broker-app': 'baton' });
});

test('three tries are all', async () => {
  serve = refusing(503, 'store_unavailable');
  expect(await codeOf(client.mint(BODY, 'the-key'))).toBe('broker_unavailable');
  expect(asked).toHaveLength(3);
});

test('a rotation that may have taken effect is not repeated', async () => {
  serve = refusing(503, 'store_unavailable');
  expect(await codeOf(client.rotate('v1.a.b'))).toBe('broker_unavailable');
  expect(asked).toHaveLength(1);
});

test('a broker that says nothing is waited for within the budget: three seconds for a mint, two for the others', async () => {
  serve = silent;
  const startedAt = performance.now();
  const took = async (work: Promise<unknown>) => {
    expect(await codeOf(work)).toBe('broker_unavailable');
    return performance.now() - startedAt;
  };
  const [mint, verify] = await Promise.all([
    took(client.mint(BODY, 'the-key')),
    took(client.verify({ access_token: 'x' })),
  ]);
  expect(verify).toBeGreaterThan(1_900);
  expect(mint).toBeGreaterThan(2_900);
  expect(mint).toBeLessThan(10_000);
  expect(verify).toBeLessThan(mint);
});

test.each([
  ['mint', 403, 'tier_exceeded', 'tier_exceeded'],
  ['mint', 403, 'account_refused', 'account_refused'],
  ['mint', 409, 'already_decided', 'already_decided'],
  ['mint', 401, 'session_revoked', 'broker_contract'],
  ['mint', 401, 'unauthenticated', 'broker_contract'],
  ['mint', 500, 'internal', 'broker_unavailable'],
  ['rotate', 401, 'session_expired', 'session_expired'],
  ['rotate', 401, 'session_revoked', 'session_revoked'],
  ['rotate', 401, 'reuse_detected', 'reuse_detected'],
  ['rotate', 403, 'account_refused', 'account_refused'],
  ['rotate', 302, '', 'broker_contract'],
  ['verify', 401, 'session_expired', 'session_expired'],
  ['verify', 404, 'not_found', 'broker_contract'],
  ['list', 403, 'account_refused', 'broker_contract'],
  ['revoke', 404, 'not_found', 'ok'],
  ['revoke', 204, '', 'ok'],
  ['revoke', 400, 'invalid_request', 'broker_contract'],
] as const)('%s: what the broker calls %i %s is %s here', async (operation, status, code, expected) => {
  serve = refusing(status, code);
  const call = {
    mint: () => client.mint(BODY, 'the-key'),
    rotate: () => client.rotate('v1.a.b'),
    verify: () => client.verify({ credential: 'v1.a.b' }),
    list: () => client.list('ann'),
    revoke: () => client.revoke({ subject: 'ann', meta: 'device-0001', reason: 'revoked' }),
  }[operation];
  expect(await codeOf(call())).toBe(expected);
});

test('a listing is read to its end, page by page', async () => {
  const session = (n: number) => {
    const { session_id, label, scope, tier, persist, created_at, expires_at } = issuedFor(BODY);
    return { session_id, label, scope, tier, persist, created_at, expires_at, meta: `device-${n}`, last_active_at: 1 };
  };
  serve = (req, res) => {
    const cursor = new URL(req.url ?? '', 'http://x').searchParams.get('cursor');
    json(
      200,
      cursor === null ? { sessions: [session(1)], next_cursor: 'c2' } : { sessions: [session(2)], next_cursor: null },
    )(req, res);
  };
  expect((await client.list('ann')).map(({ meta }) => meta)).toEqual(['device-1', 'device-2']);
  expect(asked.map(({ url }) => url)).toEqual(['/v1/sessions?subject=ann', '/v1/sessions?subject=ann&cursor=c2']);
});

describe('a session whose meta is no device id', () => {
  const { user: _, cookie: __, access_token: ___, expires_in: ____, ...session } = issuedFor(BODY);
  const listed = (meta: string, label = 'Phone') => ({ ...session, meta, label, last_active_at: 1 });

  test.each(['short', 'with:colon-1', 'a'.repeat(65)])('is left out of the listing: %s', async (meta) => {
    serve = json(200, { sessions: [listed(meta), listed(''), listed('device-1')], next_cursor: null });
    expect((await client.list('ann')).map((each) => each.meta)).toEqual(['', 'device-1']);
  });

  test('is not renewed', async () => {
    serve = json(200, { ...issuedFor(BODY), meta: 'with:colon-1' });
    expect(await codeOf(client.rotate(`v1.${SESSION_ID}.s`))).toBe('broker_contract');
  });
});

test('a label that is too long for clients is cut', async () => {
  const { user: _, cookie: __, access_token: ___, expires_in: ____, ...session } = issuedFor(BODY);
  const label = 'a'.repeat(5_000);
  serve = json(200, { sessions: [{ ...session, label, last_active_at: 1 }], next_cursor: null });
  expect((await client.list('ann')).map((each) => each.label)).toEqual([label.slice(0, 4_096)]);
});

test('a listing without end is given up', async () => {
  serve = json(200, { sessions: [], next_cursor: 'again' });
  expect(await codeOf(client.list('ann'))).toBe('broker_contract');
});

test('one operation that fails is not asked for a while; the others are', async () => {
  serve = (req, res) => (req.method === 'GET' ? refusing(500, 'internal') : json(204, null))(req, res);
  for (let i = 0; i < 5; i++) await codeOf(client.list('ann'));
  const before = asked.length;
  expect(await codeOf(client.list('ann'))).toBe('broker_unavailable');
  expect(asked).toHaveLength(before);
  serve = (_req, res) => void res.writeHead(204).end();
  expect(await codeOf(client.revoke({ subject: 'ann', meta: 'device-0001', reason: 'revoked' }))).toBe('ok');
  const text = await metrics.registry.metrics();
  expect(text).toContain('broker_breaker_open{operation="list"} 1');
  expect(text).toContain('broker_breaker_open{operation="revoke"} 0');
  expect(text).toContain('broker_requests_total{operation="list",outcome="broker_unavailable"} 6');
});

test('wrong answers about one account do not stop the questions about others', async () => {
  serve = json(200, { odd: true });
  for (let i = 0; i < 10; i++) expect(await codeOf(client.verify({ access_token: 'x' }))).toBe('broker_contract');
  expect(asked).toHaveLength(10);
});

test('of a session that was ended is told whose it was, where the broker says so about the one that was asked about', async () => {
  const credential = `v1.${SESSION_ID}.${'s'.repeat(43)}`;
  const session = { session_id: SESSION_ID, subject: 'ann', meta: 'phone-0001' };
  const refuseWith = async (status: number, body: object) => {
    serve = json(status, body);
    return codeOf(client.rotate(credential));
  };
  expect(await refuseWith(401, { code: 'reuse_detected', session })).toBe('reuse_detected');
  expect(ended).toEqual([session]);
  expect(await refuseWith(401, { code: 'session_revoked', session })).toBe('session_revoked');
  expect(ended).toHaveLength(2);
  for (const other of [undefined, 'ann', { ...session, session_id: 'B'.repeat(44) }, { ...session, subject: 7 }]) {
    expect(await refuseWith(401, { code: 'reuse_detected', session: other })).toBe('reuse_detected');
  }
  await refuseWith(401, { code: 'session_expired', session });
  await refuseWith(503, { code: 'reuse_detected', session });
  expect(ended).toHaveLength(2);
});
