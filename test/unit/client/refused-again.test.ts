import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import { memorySession, type Session } from '../../../shared/client/session/session.ts';
import { meOf } from './answers.ts';
import { fakeService } from './fake-service.ts';

/* A service renews a session and still refuses it. Nobody else behind this address may suffer for that. */

const device = { device_id: 'laptop-0001', name: 'Laptop', type: 'linux' } as const;
const session = (): Session => ({
  ...{ credential: 'v1.session.old', access_token: 't0', access_token_expires_at: Date.now() + 300_000 },
  ...{ scope: 'full', persist: 'persist', session_expires_at: Date.now() + 3_600_000, origins: ['https://service'] },
  ...{ device, user: { user_id: 'ada', name: 'Ada' } },
});

/** Always renews. `refuses` decides about a call by its path. */
function service(refuses: (path: string) => boolean) {
  let count = 0;
  return fakeService(({ path }) => {
    if (path === '/api/auth/refresh') {
      const fields = { token_type: 'Bearer', expires_in: 300, scope: 'full', persist: 'persist', device };
      const user = { user_id: 'ada', name: 'Ada' };
      return {
        body: { ...fields, access_token: `t${(count += 1)}`, session_expires_at: Date.now() + 7_200_000, user },
        headers: { 'Set-Cookie': `baton=v1.session.${count}` },
      };
    }
    return refuses(path) ? { status: 401, body: { status: 401, code: 'unauthenticated' } } : { body: meOf() };
  });
}
/** How long each of these is watched. Without the fix it was 47 requests a second. */
const WATCHED_MS = 3_000;
const watched = () => new Promise((resolve) => setTimeout(resolve, WATCHED_MS));

test('its stream is tried once more at once, then at the usual pace', async () => {
  const refusing = service(() => true);
  const baton = makeBatonClient({
    baseUrl: 'https://service',
    session: memorySession(session()),
    fetch: refusing.fetch,
  });
  const problems: string[] = [];
  baton.on('problem', ({ code, action }) => problems.push(`${code} ${action}`));
  baton.start();
  await watched();
  expect(refusing.asked.length).toBeGreaterThanOrEqual(3);
  expect(refusing.asked.length).toBeLessThan(40);
  expect(refusing.asked.slice(0, 3).map(({ path }) => path)).toEqual([
    '/api/hub/events',
    '/api/auth/refresh',
    '/api/hub/events',
  ]);
  expect(refusing.asked.filter(({ path }) => path === '/api/auth/refresh').length).toBeLessThan(6);
  expect(new Set(problems)).toEqual(new Set(['unauthenticated retry']));
  expect(baton.state).toBe('offline');
  await baton.close();
});

test('calls that are taken meanwhile do not make its stream hurry', async () => {
  const refusing = service((path) => path === '/api/hub/events');
  const baton = makeBatonClient({
    baseUrl: 'https://service',
    session: memorySession(session()),
    fetch: refusing.fetch,
  });
  baton.start();
  const until = Date.now() + WATCHED_MS;
  while (Date.now() < until) {
    await baton.me();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(refusing.asked.filter(({ path }) => path !== '/api/me').length).toBeLessThan(40);
  await baton.close();
});

test('calls renew it once, and then no oftener than its pauses say', async () => {
  const refusing = service(() => true);
  const baton = makeBatonClient({
    baseUrl: 'https://service',
    session: memorySession(session()),
    fetch: refusing.fetch,
  });
  const failures: unknown[] = [];
  for (let turn = 0; turn < 20; turn += 1) failures.push(await baton.me().catch((error: unknown) => error));
  // The requests are a first call, its renewal, and a repetition; then one for each call.
  expect(refusing.asked).toHaveLength(22);
  for (const failure of failures) {
    expect(failure).toMatchObject({ code: 'unauthenticated', action: 'retry', status: 401 });
    expect((failure as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(0);
  }
  await baton.close();
});

test('once it is taken again the next refusal is mended at once', async () => {
  let isRefusing = true;
  const changing = service(() => isRefusing);
  const baton = makeBatonClient({
    baseUrl: 'https://service',
    session: memorySession(session()),
    fetch: changing.fetch,
  });
  await expect(baton.me()).rejects.toMatchObject({ code: 'unauthenticated' });
  isRefusing = false;
  await baton.me();
  isRefusing = true;
  const before = changing.asked.length;
  await expect(baton.me()).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(changing.asked.slice(before).map(({ path }) => path)).toEqual(['/api/me', '/api/auth/refresh', '/api/me']);
});

test('a token that lives for seconds is not renewed at each call', async () => {
  const taking = service(() => false);
  const short = { ...session(), access_token_seconds: 30, access_token_expires_at: Date.now() + 25_000 };
  const baton = makeBatonClient({ baseUrl: 'https://service', session: memorySession(short), fetch: taking.fetch });
  for (let turn = 0; turn < 5; turn += 1) await baton.devices.list().catch(() => {});
  expect(taking.asked.filter(({ path }) => path === '/api/auth/refresh')).toEqual([]);
});
