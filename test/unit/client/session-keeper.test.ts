import type { BatonClientOptions } from '../../../shared/client/api.ts';
import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import { memorySession, type Session, type SessionStore } from '../../../shared/client/session/session.ts';
import { meOf } from './answers.ts';
import { message, ready } from './event-data.ts';
import { type Asked, fakeService } from './fake-service.ts';

const OLD = 'v1.session.old';
const NEW = 'v1.session.new';

const sessionFor = (seconds: number, fields: Partial<Session> = {}): Session => ({
  ...{ credential: OLD, access_token: 'old', access_token_expires_at: Date.now() + seconds * 1_000 },
  ...{ scope: 'full', persist: 'persist', session_expires_at: Date.now() + 3_600_000 },
  ...{ device: { device_id: 'laptop-0001', name: 'Laptop', type: 'linux' }, user: { user_id: 'ada', name: 'Ada' } },
  ...fields,
});

const renewed = {
  body: {
    ...{ access_token: 'new', token_type: 'Bearer', expires_in: 300, scope: 'full', persist: 'persist' },
    ...{ session_expires_at: Date.now() + 7_200_000, device: sessionFor(0).device, user: sessionFor(0).user },
  },
  headers: { 'Set-Cookie': `baton=${NEW}; HttpOnly; Path=/` },
};

const me = { body: meOf() };
const refusal = (status: number, code: string) => ({ status, body: { status, code, detail: code, request_id: 'r1' } });
const isRefresh = ({ path }: Asked) => path === '/api/auth/refresh';
const tokenOf = ({ headers }: Asked) => headers.get('authorization');

const client = (options: Pick<BatonClientOptions, 'fetch' | 'session'>) =>
  makeBatonClient({ baseUrl: 'https://service', ...options });

test('twenty calls with a token near its end renew it once, and all carry the new one', async () => {
  const service = fakeService((asked) => (isRefresh(asked) ? renewed : me));
  const session = memorySession(sessionFor(30));
  const baton = client({ fetch: service.fetch, session });
  await Promise.all(Array.from({ length: 20 }, () => baton.me()));

  const refreshes = service.asked.filter(isRefresh);
  expect(refreshes.map(({ body }) => body)).toEqual([{ credential: OLD }]);
  expect(new Set(service.asked.filter((asked) => !isRefresh(asked)).map(tokenOf))).toEqual(new Set(['Bearer new']));
  expect(await session.load()).toMatchObject({ credential: NEW, access_token: 'new' });
});

test('a token that the service does not take any more is renewed, and the call made again', async () => {
  const service = fakeService((asked) => {
    if (isRefresh(asked)) return renewed;
    return tokenOf(asked) === 'Bearer new' ? me : refusal(401, 'unauthenticated');
  });
  const baton = client({ fetch: service.fetch, session: memorySession(sessionFor(300)) });
  const answers = await Promise.all([baton.me(), baton.me(), baton.me()]);

  expect(answers).toHaveLength(3);
  expect(service.asked.filter(isRefresh)).toHaveLength(1);
});

test('what another process has renewed is taken from the store', async () => {
  const service = fakeService(() => me);
  const session = memorySession(sessionFor(30));
  const baton = client({ fetch: service.fetch, session });
  await baton.session();
  await session.save(sessionFor(300, { credential: NEW, access_token: 'theirs' }));
  await baton.me();

  expect(service.asked.map(tokenOf)).toEqual(['Bearer theirs']);
});

test('a token in force is used to its end while it cannot be renewed', async () => {
  const service = fakeService((asked) => (isRefresh(asked) ? refusal(503, 'broker_unavailable') : me));
  const session = memorySession(sessionFor(30));
  await client({ fetch: service.fetch, session }).me();
  expect(service.asked.map(({ path }) => path)).toEqual(['/api/auth/refresh', '/api/me']);
  expect(await session.load()).toMatchObject({ credential: OLD });
});

test.each([
  ['session_revoked', 'revoked'],
  ['session_expired', 'expired'],
  ['reuse_detected', 'revoked'],
])('%s ends everything, empties the store, and is said once', async (code, reason) => {
  const service = fakeService((asked) => (isRefresh(asked) ? refusal(401, code) : me));
  const session = memorySession(sessionFor(-1));
  const baton = client({ fetch: service.fetch, session });
  const said: string[] = [];
  baton.on('signed-out', (why) => said.push(why));
  const outcomes = await Promise.allSettled([baton.me(), baton.devices.list(), baton.messages.send('Phone', 'x')]);

  expect(outcomes.map((one) => one.status === 'rejected' && [one.reason.code, one.reason.action])).toEqual(
    Array.from({ length: 3 }, () => ['signed_out', 'sign-in']),
  );
  expect([said, await session.load(), baton.state]).toEqual([[reason], null, 'signed-out']);
  expect(service.asked.filter((asked) => !isRefresh(asked))).toEqual([]);
  await expect(baton.me()).rejects.toMatchObject({ code: 'signed_out' });
});

test('a renewal that is refused because another process has just got a new secret goes on with that', async () => {
  const session = memorySession(sessionFor(300));
  const service = fakeService((asked) => {
    if (!isRefresh(asked)) return tokenOf(asked) === 'Bearer theirs' ? me : refusal(401, 'unauthenticated');
    void session.save(sessionFor(300, { credential: NEW, access_token: 'theirs' }));
    return refusal(401, 'session_expired');
  });
  const baton = client({ fetch: service.fetch, session });
  const said: string[] = [];
  baton.on('signed-out', (why) => said.push(why));
  await baton.me();

  expect(said).toEqual([]);
  expect(service.asked.filter(isRefresh)).toHaveLength(1);
  expect(await session.load()).toMatchObject({ credential: NEW });
});

test('a refusal that is not of the service, as of a proxy, does not end the session', async () => {
  const page = () => new Response('<h1>Who are you?</h1>', { status: 401, headers: { 'Content-Type': 'text/html' } });
  const session = memorySession(sessionFor(300));
  const baton = client({ fetch: fakeService(page).fetch, session });
  await expect(baton.me()).rejects.toMatchObject({ code: 'unexpected_answer', action: 'retry' });
  expect(await session.load()).toMatchObject({ credential: OLD });
});

test('an error says its code, what to do, and the id of the request', async () => {
  const answers = [
    refusal(409, 'name_taken'),
    refusal(404, 'teapot'),
    new Response('<html>', { status: 404, headers: { 'Content-Type': 'text/html' } }),
    { ...refusal(429, 'rate_limited'), headers: { 'Retry-After': '9' } },
  ];
  const service = fakeService(() => answers.shift() ?? Promise.reject(new TypeError('fetch failed')));
  const baton = client({ fetch: service.fetch });
  const failure = () => baton.devices.rename('phone-0001', 'Laptop').catch((error: unknown) => error);

  const common = { name: 'BatonClientError', request_id: 'r1', retryAfterMs: null };
  expect(await failure()).toMatchObject({ ...common, code: 'name_taken', action: 'tell-user', status: 409 });
  expect(await failure()).toMatchObject({ ...common, code: 'teapot', action: 'tell-user', status: 404 });
  // This answer is not from the service, but from something in front of it.
  expect(await failure()).toMatchObject({ code: 'unexpected_answer', action: 'retry', request_id: null });
  expect(await failure()).toMatchObject({ code: 'rate_limited', action: 'retry', retryAfterMs: 9_000 });
  expect(await failure()).toMatchObject({ code: 'network', action: 'retry', status: null });
  const signal = AbortSignal.abort();
  await expect(baton.me({ signal })).rejects.toMatchObject({ code: 'aborted' });
});

const COOKIE = { credential: null, access_token: null };
const bob = sessionFor(300, {
  ...COOKIE,
  ...{ device: { device_id: 'laptop-0002', name: 'Browser', type: 'browser' }, user: { user_id: 'bob', name: 'Bob' } },
});

/** Makes a page of Ada's whose cookie may be Bob's, and notes why it ended. */
function pageOf(session: SessionStore, answer: Parameters<typeof fakeService>[0] = () => ({ body: { devices: [] } })) {
  const service = fakeService(answer);
  const baton = client({ fetch: service.fetch, session });
  const told: string[] = [];
  baton.on('signed-out', (why) => told.push(why));
  baton.on('event', ({ name }) => told.push(name));
  baton.messages.receive(({ content }) => void told.push(content));
  return { baton, told, asked: service.asked };
}

test.each([
  ['somebody else has signed in', bob],
  ['nobody is signed in', null],
])('a page that slept asks nothing where %s in this browser meanwhile, and removes nothing', async (_, now) => {
  const session = memorySession(sessionFor(300, COOKIE));
  const { baton, told, asked } = pageOf(session);
  await baton.devices.list();
  if (now === null) await session.clear();
  else await session.save(now);
  asked.length = 0;
  await expect(baton.devices.list()).rejects.toMatchObject({ code: 'signed_out' });
  expect([told, asked, await session.load()]).toEqual([['expired'], [], now]);
});

/** Answers with a stream that names this device, and brings a message. */
function streamOf(device: Session['device']): () => Response {
  const events = { ready: ready({ device }), message: message(1) };
  const frames = Object.entries(events).map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  return () => new Response(frames.join(''), { headers: { 'Content-Type': 'text/event-stream' } });
}

test('a page goes on where the service names no device, because its row cannot be restored now', async () => {
  const { baton, told } = pageOf(memorySession(sessionFor(300, COOKIE)), streamOf(null));
  const isTold = new Promise((resolve) => baton.once('event', resolve));
  baton.start();
  await isTold;
  await baton.close();
  expect(told.slice(0, 1)).toEqual(['ready']);
  expect(told).not.toContain('expired');
});

test("a page hands out nothing of the stream where the cookie is another user's", async () => {
  const { baton, told, asked } = pageOf(memorySession(sessionFor(300, COOKIE)), streamOf(bob.device));
  const isOver = new Promise((resolve) => baton.once('signed-out', resolve));
  baton.start();
  await isOver;
  await baton.close();
  expect([told, asked.map(({ path }) => path)]).toEqual([['expired'], ['/api/hub/events']]);
});

test("a cookie that is another user's by its renewal is not kept as this session", async () => {
  const session = memorySession(sessionFor(300, COOKIE));
  // Only a page has a session without a secret.
  Object.assign(globalThis, { document: {} });
  const saved: Session[] = [];
  const answer = (asked: Asked) =>
    isRefresh(asked)
      ? { body: { ...renewed.body, device: bob.device, user: bob.user } }
      : refusal(401, 'unauthenticated');
  const { baton, told } = pageOf({ ...session, save: (one) => void saved.push(one) }, answer);
  await expect(baton.devices.list()).rejects.toMatchObject({ code: 'unexpected_answer' });
  Reflect.deleteProperty(globalThis, 'document');
  expect([told, saved]).toEqual([[], []]);
});

test('a client that is started again before its close has finished goes on renewing its session', async () => {
  const set = new Map<unknown, number>();
  const { setTimeout: begin, clearTimeout: end } = globalThis;
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    const timer = begin(run, ms);
    set.set(timer, ms);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    set.delete(timer);
    end(timer);
  };
  const stream = (): Response =>
    new Response(new ReadableStream<Uint8Array>(), { headers: { 'Content-Type': 'text/event-stream' } });
  const baton = client({ fetch: fakeService(stream).fetch, session: memorySession(sessionFor(300)) });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  try {
    baton.start();
    await turn();
    void baton.close();
    baton.start();
    await turn();
    expect([...set.values()].filter((ms) => ms > 1_000_000)).toHaveLength(1);
  } finally {
    await baton.close();
    Object.assign(globalThis, { setTimeout: begin, clearTimeout: end });
  }
});
