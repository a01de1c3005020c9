import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import { checkService } from '../../../shared/client/session/service.ts';
import { memorySession, type Session } from '../../../shared/client/session/session.ts';
import { meOf } from './answers.ts';
import { type Asked, fakeService } from './fake-service.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

/* A session is sent only to the service that it belongs to. */

const sessionOf = (given: Partial<Session> = {}): Session => ({
  ...{ credential: 'v1.session.old', access_token: 'old', access_token_expires_at: Date.now() + 300_000 },
  ...{ scope: 'full', persist: 'persist', session_expires_at: Date.now() + 3_600_000 },
  ...{ device: { device_id: 'laptop-0001', name: 'Laptop', type: 'linux' }, user: { user_id: 'ada', name: 'Ada' } },
  origins: ['https://service'],
  ...given,
});
const ended = { access_token_expires_at: Date.now() - 1 };

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error as { code: string }).code,
  );

const verdict = (base: string, given: Partial<Session> = {}): string => {
  try {
    checkService(sessionOf(given), base);
    return 'sent';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test.each([
  ['https://service', 'sent'],
  ['https://SERVICE:443/', 'sent'],
  ['https://service/prefix', 'sent'],
  ['', 'sent'],
  ['https://service:8443', 'other_service'],
  ['http://service', 'other_service'],
  ['https://service.evil.example', 'other_service'],
  ['https://evil.example/https://service', 'other_service'],
  ['https://service@evil.example', 'invalid_request'],
  ['ftp://service', 'invalid_request'],
  ['service', 'invalid_request'],
])('a session of https://service: to "%s" it is %s', (base, expected) => {
  expect(verdict(base)).toBe(expected);
});

test.each([
  ['http://localhost:8080', 'sent'],
  ['http://baton.localhost:8080', 'sent'],
  ['http://127.0.0.1:8080', 'sent'],
  ['http://127.9.9.9', 'sent'],
  ['http://[::1]:8080', 'sent'],
  ['http://localhost.evil.example', 'plain_http'],
  ['http://127.0.0.1.evil.example', 'plain_http'],
  ['http://evil-localhost', 'plain_http'],
  ['http://128.0.0.1', 'plain_http'],
  ['http://[::2]', 'plain_http'],
  ['http://192.168.1.5:8080', 'plain_http'],
  ['https://192.168.1.5:8443', 'sent'],
])('plain http is for this machine alone: %s is %s', (base, expected) => {
  expect(verdict(base, { origins: [new URL(base).origin] })).toBe(expected);
  // An old session does not know its origins. That is no reason to send it in the clear.
  const { origins: _, ...old } = sessionOf();
  expect(verdict(base, { ...old, origins: undefined } as never)).toBe(expected);
});

test('plain http in a network is for a session whose user wants it, and for its own origin', () => {
  const own = { origins: ['http://192.168.1.5:8080'], plain_http: true };
  expect(verdict('http://192.168.1.5:8080', own)).toBe('sent');
  expect(verdict('http://192.168.1.6:8080', own)).toBe('other_service');
});

test('localhost leads to either address of this machine, and an address to itself', () => {
  const named = { origins: ['http://localhost:8080'] };
  expect(verdict('http://127.0.0.1:8080', named)).toBe('sent');
  expect(verdict('http://[::1]:8080', named)).toBe('sent');
  expect(verdict('http://127.0.0.1:8081', named)).toBe('other_service');
  expect(verdict('http://127.0.0.2:8080', named)).toBe('other_service');
  expect(verdict('http://localhost:8080', { origins: ['http://127.0.0.1:8080'] })).toBe('other_service');
});

test.each([
  ['with a token in force', {}],
  ['with a token to be renewed', ended],
])('no call, file or stream of a session goes to another service, %s', async (_, given) => {
  const service = fakeService(() => ({ body: meOf() }));
  const session = memorySession(sessionOf(given));
  const baton = makeBatonClient({ baseUrl: 'https://elsewhere', session, fetch: service.fetch });
  expect(await codeOf(baton.me())).toBe('other_service');
  expect(await codeOf(baton.messages.send('Phone', 'secret'))).toBe('other_service');
  expect(await codeOf(baton.signOut())).toBe('other_service');
  const problem = new Promise((resolve) => {
    baton.on('problem', ({ code }) => resolve(code));
  });
  baton.start();
  expect(await problem).toBe('other_service');
  await baton.close();
  expect(service.asked).toEqual([]);
  expect(await session.load()).toEqual(
    sessionOf({
      ...given,
      access_token_expires_at: expect.any(Number) as never,
      session_expires_at: expect.any(Number) as never,
    }),
  );
});

test('an attempt that a new address leads elsewhere is not made', async () => {
  const addresses = ['https://service', 'https://elsewhere'];
  const service = fakeService(() => ({ status: 503, body: { code: 'draining' } }));
  const baton = makeBatonClient({
    ...{ baseUrl: () => addresses.shift() ?? 'https://elsewhere', session: memorySession(sessionOf()) },
    fetch: service.fetch,
  });
  expect(await codeOf(baton.me())).toBe('other_service');
  expect(service.asked).toHaveLength(1);
});

describe('redirects', () => {
  let own: ScriptedServer;
  let other: ScriptedServer;
  beforeEach(async () => {
    [own, other] = await Promise.all([startScriptedServer(), startScriptedServer()]);
  });
  afterEach(async () => {
    await Promise.all([own.stop(), other.stop()]);
  });

  test.each([302, 307, 308])('%s takes neither a token nor a credential to another origin', async (status) => {
    for (const given of [{}, ended]) {
      const session = memorySession(sessionOf({ ...given, origins: [own.baseUrl] }));
      const baton = makeBatonClient({ baseUrl: own.baseUrl, session });
      const failing = codeOf(baton.messages.send('Phone', 'x'));
      (await own.next()).answer(status, undefined, { Location: `${other.baseUrl}/api/message` });
      expect(await failing).toBe('unexpected_answer');
    }
    expect(other.exchanges).toEqual([]);
  });
});

const refresh = {
  ...{ access_token: 'new', token_type: 'Bearer', expires_in: 300, scope: 'full', persist: 'persist' },
  ...{ session_expires_at: Date.now() + 7_200_000, device: sessionOf().device, user: sessionOf().user },
};
const isRefresh = ({ path }: Asked) => path === '/api/auth/refresh';

test.each([
  ['no token', { access_token: undefined }],
  ['a token with a line end', { access_token: 'a\r\nX-Evil: 1' }],
  ['a token of a megabyte', { access_token: 'x'.repeat(1_048_576) }],
  ['a token that is a list', { access_token: ['new'] }],
  ['another kind of token', { token_type: 'mac' }],
  ['a token that has ended', { expires_in: 0 }],
  ['a token of a century', { expires_in: 3_153_600_000 }],
  ['a token without an end', { expires_in: null }],
  ['more than a scope can say', { scope: 'root' }],
  ['an unknown persistence', { persist: 'for-ever' }],
  ['an end that is a text', { session_expires_at: 'tomorrow' }],
  ['a device id that is a path', { device: { device_id: '../../etc', name: 'Laptop', type: 'linux' } }],
  ['a device name with an escape', { device: { device_id: 'laptop-0001', name: '\x1b[2J', type: 'linux' } }],
  ['another device', { device: { device_id: 'another-0001', name: 'Laptop', type: 'linux' } }],
  ['another user', { user: { user_id: 'eve', name: 'Ada' } }],
  ['no user', { user: null }],
])('a renewal with %s is refused, and what was kept stays', async (_, given) => {
  for (const status of [200, 203]) {
    const service = fakeService((asked) =>
      isRefresh(asked)
        ? { status, body: { ...refresh, ...given }, headers: { 'Set-Cookie': 'baton=v1.session.new' } }
        : { body: meOf() },
    );
    const kept = sessionOf(ended);
    const session = memorySession(kept);
    expect(await codeOf(makeBatonClient({ baseUrl: 'https://service', session, fetch: service.fetch }).me())).toBe(
      'unexpected_answer',
    );
    expect(await session.load()).toEqual(kept);
    expect(service.asked.filter((asked) => !isRefresh(asked))).toEqual([]);
  }
});

test('a session of an older version is bound to where it was renewed, and then to what that calls its own', async () => {
  const { origins: _, ...old } = sessionOf(ended);
  const service = fakeService((asked) =>
    isRefresh(asked)
      ? { body: refresh }
      : { body: meOf({ origins: ['https://service', 'https://two', 'http://open'] }) },
  );
  const session = memorySession(old);
  const baton = makeBatonClient({ baseUrl: 'https://service', session, fetch: service.fetch });
  await baton.devices.list().catch(() => {});
  expect(await session.load()).toMatchObject({ origins: ['https://service'] });
  await baton.me();
  expect(await session.load()).toMatchObject({ service: 'home', origins: ['https://service', 'https://two'] });
  const elsewhere = makeBatonClient({ baseUrl: 'https://two', session, fetch: service.fetch });
  expect((await elsewhere.me()).user_id).toBe('ada');
});

test.each([
  ['another service', 'https://evil.example/link?r=0123456789abcdef012345&c=abcdefghijklmnopqrstuv', 'other_service'],
  ['what is no link', 'https://service/else?r=1&c=2', 'invalid_request'],
])('a link of %s is not asked about', async (_, link, code) => {
  const service = fakeService(() => ({ status: 404, body: { code: 'not_found' } }));
  const baton = makeBatonClient({
    baseUrl: 'https://service',
    session: memorySession(sessionOf()),
    fetch: service.fetch,
  });
  const grant = { scope: 'full', persist: 'persist' } as const;
  expect(await codeOf(baton.signIns.look(link))).toBe(code);
  expect(await codeOf(baton.signIns.approve(link, grant))).toBe(code);
  expect(await codeOf(baton.signIns.deny(link))).toBe(code);
  expect(service.asked).toEqual([]);
  expect(await codeOf(baton.signIns.look(link.replace(/.*\/\w+\?/, 'https://service/link?')))).toBe('not_found');
});
