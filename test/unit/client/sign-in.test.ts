import { requestSignIn, startDeviceSession } from '../../../shared/client/session/sign-in.ts';
import { memorySession } from '../../../shared/client/session/session.ts';
import { meOf } from './answers.ts';
import { type Asked, fakeService } from './fake-service.ts';

/* Signing in: what is shown and kept, and that the service sees the session being used. */

const REQUEST = 'abcdefghijklmnopqrst-_';
const CODE = '0123456789abcdefghijkl';
const started = {
  ...{ request_id: REQUEST, poll_secret: 's'.repeat(43), expires_at: Date.now() + 120_000 },
  qr_payload: `https://service/link?r=${REQUEST}&c=${CODE}`,
};
const approved = {
  ...{
    status: 'approved',
    access_token: 'token',
    token_type: 'Bearer',
    expires_in: 300,
    scope: 'full',
    persist: 'once',
  },
  ...{ session_expires_at: Date.now() + 3_600_000, device: meOf().device, user: { user_id: 'ada', name: 'Ada' } },
};
const withCookie = { headers: { 'Set-Cookie': '__Host-baton=v1.session.secret; HttpOnly; Path=/' } };
const refusal = (status: number, code: string, headers = {}) => ({ status, body: { status, code }, headers });

type Answers = Partial<Record<'start' | 'poll' | 'me', (asked: Asked, turn: number) => object>>;

function scene(answers: Answers = {}, baseUrl = 'https://service', more: object = {}) {
  const turns = { start: 0, poll: 0, me: 0 };
  const service = fakeService((asked) => {
    const [, what] = /(start|status|me|device-session)$/.exec(asked.path) ?? [];
    const name = what === 'start' ? 'start' : what === 'me' ? 'me' : 'poll';
    const given = {
      start: { status: 201, body: started },
      poll: { body: approved, ...withCookie },
      me: { body: meOf() },
    };
    return answers[name]?.(asked, (turns[name] += 1)) ?? given[name];
  });
  const session = memorySession();
  const options = {
    baseUrl,
    deviceName: 'Laptop',
    deviceType: 'linux' as const,
    session,
    fetch: service.fetch,
    ...more,
  };
  return { service, session, options, ask: () => requestSignIn(options) };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error as { code: string }).code,
  );
const paths = ({ asked }: { asked: Asked[] }) => asked.map(({ path }) => path);

test('the new session is used before it is given, with the token alone, and keeps the origins of the service', async () => {
  const { service, session, ask } = scene({
    me: () => ({ body: meOf({ origins: ['https://service', 'https://two'] }) }),
  });
  const request = await ask();
  expect(request.link).toBe(started.qr_payload);
  const made = await request.approved();
  const last = service.asked.at(-1) as Asked;
  expect([last.path, last.headers.get('authorization')]).toEqual(['/api/me', 'Bearer token']);
  expect(made).toMatchObject({
    credential: 'v1.session.secret',
    origins: ['https://service', 'https://two'],
    service: 'home',
  });
  expect(await session.load()).toEqual(made);
});

test('it is used until the service has seen it, and is kept meanwhile', async () => {
  const kept: unknown[] = [];
  const { service, session, ask } = scene({
    me(_, turn) {
      kept.push(session.load());
      if (turn === 1) return refusal(503, 'broker_unavailable');
      if (turn === 2) throw new TypeError('fetch failed');
      return turn === 3 ? refusal(401, 'unauthenticated') : { body: meOf() };
    },
  });
  await (await ask()).approved();
  expect(paths(service).filter((path) => path === '/api/me')).toHaveLength(4);
  for (const each of kept)
    expect(each).toMatchObject({ credential: 'v1.session.secret', origins: ['https://service'] });
});

test('a service that cannot be asked in time is said, and the session stays for who asks it after all', async () => {
  const { session, ask } = scene({ me: () => refusal(503, 'broker_unavailable', { 'Retry-After': '100' }) });
  expect(await codeOf((await ask()).approved())).toBe('not_confirmed');
  expect(await session.load()).toMatchObject({ access_token: 'token' });
});

test.each([
  ['a proxy answers', { status: 403, body: '<html>' }],
  ['the page is missing for a moment', refusal(404, 'not_found')],
  ['the service refuses for a reason of its own', refusal(403, 'guest_forbidden')],
])('where %s the session is kept, and used again', async (_, answer) => {
  const { service, session, ask } = scene({ me: (__, turn) => (turn === 1 ? answer : { body: meOf() }) });
  await (await ask()).approved();
  expect(paths(service).filter((path) => path === '/api/me')).toHaveLength(2);
  expect(await session.load()).toMatchObject({ access_token: 'token', service: 'home' });
});

test.each([
  ['the session was revoked meanwhile', refusal(401, 'session_revoked'), 'session_revoked'],
  ['the service says nonsense of who it is', { body: { ...meOf(), origins: 'https://service' } }, 'unexpected_answer'],
  ['the service says nonsense of its limits', { body: { ...meOf(), limits: null } }, 'unexpected_answer'],
])('where %s nothing is kept', async (_, answer, code) => {
  const { session, ask } = scene({ me: () => answer });
  expect(await codeOf((await ask()).approved())).toBe(code);
  expect(await session.load()).toBeNull();
});

test('who does not want to wait any more keeps the session', async () => {
  const stopping = new AbortController();
  const { session, ask } = scene({
    me() {
      stopping.abort();
      return refusal(503, 'draining');
    },
  });
  expect(await codeOf((await ask()).approved({ signal: stopping.signal }))).toBe('aborted');
  expect(await session.load()).toMatchObject({ access_token: 'token' });
});

test.each([
  ['another scope', { scope: 'root' }, {}],
  ['a token with a line end', { access_token: 'a\nb' }, {}],
  ['no time for the token', { expires_in: -1 }, {}],
  ['a device that is a path', { device: { device_id: '../../../x', name: 'x', type: 'linux' } }, {}],
  ['no credential', {}, { headers: {} }],
  ['a credential that is none', {}, { headers: { 'Set-Cookie': 'baton="a, b"' } }],
])('an approval with %s is refused, and nothing is kept', async (_, given, more) => {
  const { session, service, ask } = scene({
    poll: () => ({ body: { ...approved, ...given }, ...withCookie, ...more }),
  });
  expect(await codeOf((await ask()).approved())).toBe('unexpected_answer');
  expect(await session.load()).toBeNull();
  expect(paths(service)).not.toContain('/api/me');
});

test.each([
  ['of another service', `https://evil.example/link?r=${REQUEST}&c=${CODE}`],
  ['of another port', `https://service:8443/link?r=${REQUEST}&c=${CODE}`],
  ['without encryption', `http://service/link?r=${REQUEST}&c=${CODE}`],
  ['of another request', `https://service/link?r=${'x'.repeat(22)}&c=${CODE}`],
  ['to another page', `https://service/linked?r=${REQUEST}&c=${CODE}`],
  ['with a code that is none', `https://service/link?r=${REQUEST}&c=%1b%5b2J`],
  ['that is a script', `javascript:alert(1)//link?r=${REQUEST}&c=${CODE}`],
])('a link %s is not shown', async (_, link) => {
  const { ask } = scene({ start: () => ({ status: 201, body: { ...started, qr_payload: link } }) });
  const failure = await ask().catch((error: unknown) => error as Error & { code: string });
  expect(failure).toMatchObject({ code: 'unexpected_answer' });
  expect((failure as Error).message).not.toContain('evil.example');
});

test('what hangs at a link is left out', async () => {
  const { ask } = scene({
    start: () => ({ status: 201, body: { ...started, qr_payload: `${started.qr_payload}#k=1.EVIL` } }),
  });
  expect((await ask()).link).toBe(started.qr_payload);
});

test.each([
  ['http://127.0.0.1:8081', 'http://localhost:8081', 'http://localhost:8081'],
  ['http://127.0.0.1:8081', 'http://localhost:8080', 'http://127.0.0.1:8081'],
])('asked at %s, a service of this machine that calls itself %s gives a link of %s', async (base, payload, shown) => {
  const qr_payload = `${payload}/link?r=${REQUEST}&c=${CODE}`;
  const { ask } = scene({ start: () => ({ status: 201, body: { ...started, qr_payload } }) }, base);
  expect((await ask()).link).toBe(`${shown}/link?r=${REQUEST}&c=${CODE}`);
});

test('nobody signs in over plain http in a network unless that is wanted, and then it is kept with the session', async () => {
  const base = 'http://192.168.1.5:8080';
  const start = () => ({ status: 201, body: { ...started, qr_payload: `${base}/link?r=${REQUEST}&c=${CODE}` } });
  const refused = scene({ start }, base);
  expect(await codeOf(refused.ask())).toBe('plain_http');
  expect(await codeOf(startDeviceSession({ ...refused.options, deviceId: 'laptop-0001' }))).toBe('plain_http');
  expect(refused.service.asked).toEqual([]);

  const { session, ask } = scene({ start }, base, { plainHttp: true });
  await (await ask()).approved();
  expect(await session.load()).toMatchObject({ plain_http: true, origins: [base, 'https://service'] });
});

test('a service that does not wait before it says "pending" is not asked again at once', async () => {
  const stopping = new AbortController();
  const { service, ask } = scene({ poll: () => ({ status: 202, body: { status: 'pending', expires_at: 1 } }) });
  const waiting = codeOf((await ask()).approved({ signal: stopping.signal }));
  // That takes two pauses of a second.
  while (service.asked.length < 4) await new Promise((resolve) => setTimeout(resolve, 20));
  stopping.abort();
  expect(await waiting).toBe('aborted');
  expect(service.asked.length).toBeLessThan(6);
});

test('a device session keeps its origins too, and is good without them', async () => {
  const whole = scene({ me: () => ({ body: meOf({ origins: ['https://two'] }) }) });
  const options = { ...whole.options, deviceId: 'laptop-0001', headers: { Cookie: 'baton=of-the-login' } };
  await startDeviceSession(options);
  expect(await whole.session.load()).toMatchObject({ origins: ['https://service', 'https://two'] });
  expect(whole.service.asked.at(-1)?.headers.get('cookie')).toBeNull();

  const bare = scene({ me: () => refusal(404, 'not_found') });
  await startDeviceSession({ ...bare.options, deviceId: 'laptop-0001' });
  expect(await bare.session.load()).toMatchObject({ origins: ['https://service'], access_token: 'token' });
});

test('a service that has a sign-in wait for longer than its code lives ends it at once', async () => {
  const refused = refusal(429, 'rate_limited', { 'Retry-After': '86400' });
  const { service, ask } = scene({ poll: () => refused });
  const request = await ask();
  await expect(request.approved()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 86_400_000 });
  expect(paths(service)).toHaveLength(2);
});
