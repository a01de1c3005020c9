import request from 'supertest';
import { ROUTES } from '../../../../shared/contract/routes.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { ALICE, publicApp } from '../public-app.ts';

/* `APP_CORS_ORIGINS` allows pages of other origins, which use bearer tokens only. */

const LISTED = 'https://notes.example';
const FOREIGN = 'https://evil.example';
const BEARER = { Authorization: 'Bearer a-token' };
const COOKIE = { Cookie: '__Host-baton=v1' };

/** The headers by which a browser decides. */
const CORS_HEADERS = /^access-control-/;
const corsHeadersOf = ({ headers }: { headers: Record<string, string> }) =>
  Object.keys(headers).filter((name) => CORS_HEADERS.test(name));

const rows = Object.entries<Route>(ROUTES);
const pathOf = ({ path }: Route): string => path.replaceAll(/\{\w+\}/g, '0');
const open = rows.filter(([, { cors }]) => cors);
const closed = rows.filter(([, { cors }]) => !cors);

const { app } = publicApp({ corsOrigins: [LISTED] });
const preflight = (path: string, method: string, origin = LISTED) =>
  request(app).options(path).set({
    Origin: origin,
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': 'authorization',
  });

test('no page of another origin may sign a device in, approve one, change keys, or erase an account', () => {
  const names = closed.filter(([, { path, identity }]) => path.startsWith('/api/') && identity === 'caller');
  expect(names.map(([name]) => name).sort()).toEqual([
    ...['approveLogin', 'deleteKeys', 'eraseAccount', 'keepKeys', 'putGuests', 'putKeys', 'relinkLogin'],
    'startDeviceSession',
  ]);
});

test.each(open)('a listed origin may ask for %s, the stream included, and gets no cookie', async (_, route) => {
  const { headers, status } = await preflight(pathOf(route), route.method);
  expect(status).toBe(204);
  expect(headers['access-control-allow-origin']).toBe(LISTED);
  expect(headers['access-control-allow-methods']?.split(', ')).toContain(route.method);
  expect(headers['access-control-allow-headers']).toMatch(/Authorization/);
  expect(headers['access-control-allow-credentials']).toBeUndefined();
  expect(headers['vary']).toBe('Origin');
});

test.each(closed)('%s is closed to every other origin', async (_, route) => {
  const asked = await preflight(pathOf(route), route.method);
  // Other methods of its path may be open.
  expect(asked.status).toBe(405);
  expect(corsHeadersOf(asked)).toEqual([]);
  if (route.method === 'GET' || route.method === 'HEAD') return;
  const method = route.method.toLowerCase() as 'post' | 'put' | 'patch' | 'delete';
  const written = await request(app)
    [method](pathOf(route))
    .set({ Origin: LISTED, ...BEARER, ...ALICE });
  expect(corsHeadersOf(written)).toEqual([]);
  if (route.sameOrigin) expect([written.status, (written.body as { code: string }).code]).toEqual([403, 'cross_site']);
});

test('an origin that is not listed is refused as without any list', async () => {
  for (const origin of [FOREIGN, `${LISTED}.evil.example`, 'http://notes.example', `${LISTED}:8443`, 'null']) {
    const asked = await preflight('/api/devices', 'GET', origin);
    const read = await request(app)
      .get('/api/devices')
      .set({ Origin: origin, ...BEARER, ...ALICE });
    const written = await request(app)
      .put('/api/clipboard')
      .set({ Origin: origin, ...BEARER, ...ALICE })
      .send({});
    expect([asked.status, written.status]).toEqual([405, 403]);
    expect([asked, read, written].flatMap(corsHeadersOf)).toEqual([]);
  }
});

test('a request with a cookie gets nothing of it, whatever else it carries', async () => {
  const cookie = { Origin: LISTED, ...BEARER, ...COOKIE, ...ALICE };
  const read = await request(app).get('/api/devices').set(cookie);
  const written = await request(app).put('/api/clipboard').set(cookie).send({ content: 'x' });
  const stream = await request(app).get('/api/hub/events').set(cookie);
  expect([written.status, stream.status]).toEqual([403, 403]);
  expect([read, written, stream].flatMap(corsHeadersOf)).toEqual([]);
});

test('a write of a listed origin needs a bearer token', async () => {
  const write = (headers: Record<string, string>) =>
    request(app)
      .put('/api/clipboard')
      .set({ Origin: LISTED, 'Sec-Fetch-Site': 'cross-site', ...ALICE, ...headers })
      .send({ content: 'x', content_type: 'text/plain' });
  const without = await write({});
  expect([without.status, (without.body as { code: string }).code]).toEqual([403, 'cross_site']);
  expect((await write({ Authorization: 'Basic eDp5' })).status).toBe(403);
  const { status, headers } = await write(BEARER);
  expect([status, headers['access-control-allow-origin']]).toEqual([200, LISTED]);
});

test('a refusal can be read too, with what it says in headers', async () => {
  const { status, headers } = await request(app)
    .get('/api/devices')
    .set({ Origin: LISTED, ...BEARER });
  expect([status, headers['access-control-allow-origin']]).toEqual([401, LISTED]);
  expect(headers['access-control-expose-headers']?.split(', ')).toEqual(
    expect.arrayContaining(['X-Request-Id', 'Retry-After', 'Upload-Offset']),
  );
  expect(headers['access-control-expose-headers']).not.toContain('Set-Cookie');
});

test('without a list nothing of it is there', async () => {
  const bare = publicApp().app;
  const answer = await request(bare)
    .get('/api/devices')
    .set({ Origin: LISTED, ...BEARER, ...ALICE });
  expect(corsHeadersOf(answer)).toEqual([]);
  expect(answer.headers['vary']).toBeUndefined();
});
