import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { makeDevice, randomUser } from '../../support/device.ts';
import { type LoneApp, startLoneApp } from '../../support/lone-app.ts';
import {
  SAMPLES,
  expectRight,
  isStream,
  ROUTE_NAMES,
  routeOf,
  routesWhere,
  sampleRequest,
  senderOf,
} from '../../support/samples.ts';
import { type Site, startSite } from '../../support/site.ts';
import { picture } from '../../support/redis/stored.ts';
import { expectProblem, request, sendBytes } from '../../support/wire.ts';

const user = randomUser();
const own = makeDevice({ user, name: 'Laptop' });
const other = makeDevice({ user, name: 'Phone' });
const scene = { own, other };

let site: Site;
let app: LoneApp;
beforeAll(async () => {
  [site, app] = await Promise.all([startSite({}, { alone: true }), startLoneApp()]);
  await Promise.all([own, other].map((device) => device.on(site.one).call('getMe')));
});
afterAll(() => Promise.all([site.stop(), app.stop()]));

const headers = own.headers;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'];

/** A stream has no HEAD, and neither has the answer that carries a session, because it is given once. */
const hasHead = (route: Route): boolean => !isStream(route) && route.path !== '/api/auth/qr/status';

/** Each path of the route table with the methods that it has. */
const paths = [...new Set(ROUTE_NAMES.map((name) => routeOf(name).path))].map((path) => {
  const names = ROUTE_NAMES.filter((name) => routeOf(name).path === path);
  const all = names.flatMap((name): string[] => {
    const { method } = routeOf(name);
    return method === 'GET' && hasHead(routeOf(name)) ? ['GET', 'HEAD'] : [method];
  });
  const methods = [...new Set(all)];
  return { path, sample: sampleRequest(names[0] as (typeof names)[0], scene).path, methods };
});

describe('a method that a path does not have', () => {
  const pairs = paths.flatMap(({ path, sample, methods }) =>
    METHODS.filter((method) => !methods.includes(method)).map((method) => ({ method, path, sample, methods })),
  );

  test.each(pairs)('$method $path is refused with the methods that it has', async ({ method, sample, methods }) => {
    app.handled();
    const answer = await request(app, { method, path: sample, headers });
    expect(app.handled()).toEqual([]);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow?.split(', ').sort()).toEqual([...methods].sort());
    if (method !== 'HEAD') expectProblem(answer, 'method_not_allowed');
  });

  test.each(paths)('a replica refuses it for $path too', async ({ sample, methods }) => {
    const answer = await request(site.one, { method: 'PROPFIND', path: sample, headers });
    expectProblem(answer, 'method_not_allowed');
    expect(answer.headers.allow?.split(', ').sort()).toEqual([...methods].sort());
  });

  test('is refused before anybody is asked who they are', async () => {
    expectProblem(await request(site.one, { method: 'DELETE', path: '/api/me' }), 'method_not_allowed');
  });

  test('cannot be had by a header that overrides it', async () => {
    const overriding = { ...headers, 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' };
    await own.on(site.one).call('setClipboard', { body: { content: 'kept', content_type: 'text/plain' } });
    const answer = await request(site.one, {
      method: 'POST',
      path: '/api/clipboard?_method=DELETE',
      headers: overriding,
    });
    expectProblem(answer, 'method_not_allowed');
    expect((await own.on(site.one).call('getClipboard')).body.content).toBe('kept');
  });
});

describe('HEAD', () => {
  const readable = routesWhere((route) => route.method === 'GET' && hasHead(route));

  test.each(readable)('of %s has the headers of GET and no body', async (name) => {
    const { path } = sampleRequest(name, scene);
    const get = await request(site.one, { path, headers });
    const head = await request(site.one, { method: 'HEAD', path, headers });
    expect(head).toMatchObject({ status: get.status, text: '' });
    const perRequest = { 'x-request-id': expect.any(String), date: expect.any(String) };
    expect(head.headers).toEqual({ ...get.headers, ...perRequest });
  });
});

describe('a path that nobody serves', () => {
  test.each([
    '/api',
    '/api/',
    '/api/me/',
    '/api//me',
    '/API/me',
    '/api/Me',
    '/api/me;v=1',
    '/api/me%2f',
    '/api/%6de/x',
    '/api/clipboard/../me',
    '/api/clipboard/%2e%2e/me',
    '/api/devices/',
    '/api/devices/a/b',
    '/api/hub',
    '/api/message/',
    '/healthz/',
    '//api/me',
    '/..',
    '/../../etc/passwd',
    '/.env',
    '/.git/config',
    '/robots.txt',
    '/index.html',
    '/livez',
    '/readyz',
    '/statusz',
    '/metrics',
    '/%00',
    '/%zz',
    '/%c0%af',
    `/${'a'.repeat(8_000)}`,
  ])('%s is not found', async (path) => {
    expectProblem(await request(site.one, { path, headers }), 'not_found');
  });

  test('is not found for whoever has no identity either, whatever the method', async () => {
    for (const method of METHODS.filter((one) => one !== 'HEAD')) {
      expectProblem(await request(site.one, { method, path: '/api/nothing' }), 'not_found');
    }
  });
});

describe('a parameter in the path', () => {
  const HOSTILE = [
    'short',
    'a'.repeat(65),
    '..%2f..%2fetc',
    '%00%00%00%00%00%00%00%00',
    'with%20space',
    '*%2a*%2a*%2a*',
    '%7Bbraces%7D',
    '%0D%0Aline-end',
    '%F0%9F%98%80%F0%9F%98%80',
  ];
  const cases = routesWhere(({ params, method }) => params !== null && method !== 'HEAD').flatMap((name) => {
    const route = routeOf(name);
    return Object.keys(route.params?.properties ?? {}).flatMap((param) =>
      HOSTILE.map((value) => ({ name, param, value, path: route.path.replace(`{${param}}`, value) })),
    );
  });

  test.each(cases)('of $name is nothing that there is: $value', async ({ name, path }) => {
    const before = await picture(site.redis, site.prefix);
    const answer = await request(site.one, { ...sampleRequest(name, scene), path, headers });
    // There is nothing to remove, so the removal succeeds.
    if (routeOf(name).method === 'DELETE' && name !== 'removePushSubscription') expect(answer.status).toBe(204);
    else expectProblem(answer, 'not_found');
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  });

  test.each(['%zz', '%', '%E0%A4%A', '%ff%ff%ff%ff%ff%ff%ff%ff'])(
    'that is not percent-encoded UTF-8 is refused: %s',
    async (value) => {
      const answer = await request(site.one, {
        ...sampleRequest('renameDevice', scene),
        path: `/api/devices/${value}`,
        headers,
      });
      expectProblem(answer, 'invalid_request');
    },
  );

  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'devices-'])(
    'is only looked up, whatever it means elsewhere: %s',
    async (id) => {
      const answer = await request(site.one, {
        ...sampleRequest('renameDevice', scene),
        path: `/api/devices/${id}`,
        headers,
      });
      expectProblem(answer, 'not_found');
    },
  );
});

describe('a query', () => {
  const plain = routesWhere((route) => !isStream(route));

  test.each(plain)('that %s does not know is ignored', async (name) => {
    const { path, ...rest } = sampleRequest(name, scene);
    const query = '__proto__=1&constructor[prototype]=x&a[b][c]=d&%zz=%zz&x&&&=&x=1&x=2&%00=%00&dev_user=eve';
    const join = path.includes('?') ? '&' : '?';
    expectRight(
      name,
      await request(site.one, { ...rest, path: `${path}${join}${query}`, headers: senderOf(name, own).headers }),
      scene,
    );
  });

  const queried = routesWhere(({ query }) => query !== null).flatMap((name) =>
    Object.keys(routeOf(name).query?.properties ?? {}).map((field) => [name, field] as const),
  );

  test.each(queried)('of %s is refused when %s occurs twice', async (name, field) => {
    const path = `${routeOf(name).path}?${field}=a&${field}=b`;
    const { errors } = expectProblem(await request(site.one, { path, headers }), 'invalid_request');
    expect(errors).toEqual([{ path: `/query/${field}`, message: 'occurs more than once' }]);
  });

  test.each(queried)('of %s is refused when %s is far too long', async (name, field) => {
    const others = SAMPLES[name](scene).query ?? {};
    const path = `${routeOf(name).path}?${new URLSearchParams({ ...others, [field]: 'a'.repeat(5_000) })}`;
    const { errors } = expectProblem(await request(site.one, { path, headers }), 'invalid_request');
    expect(errors?.map((error) => error.path)).toEqual([`/query/${field}`]);
  });
});

describe('what is not HTTP', () => {
  const body = '{"to":"Phone","content":"smuggled"}';
  const head = (lines: string[]) =>
    [...lines, 'Host: localhost', `X-Dev-User: ${user}`, `X-Dev-Device: ${own.id}`, '', ''].join('\r\n');
  const post = (...lines: string[]) => head(['POST /api/message HTTP/1.1', 'Content-Type: application/json', ...lines]);

  test.each([
    ['rubbish', 'rubbish\r\n\r\n'],
    ['a request line without a version', 'GET /api/me\r\n\r\n'],
    ['a TLS hello', Buffer.from('160301020001000001fc0303', 'hex')],
    ['a header with a NUL', head(['GET /api/me HTTP/1.1', 'X-Evil: \0'])],
    ['headers of 100 KB', head(['GET /api/me HTTP/1.1', `X-Long: ${'a'.repeat(100_000)}`])],
    ['two lengths', post('Content-Length: 5', 'Content-Length: 35') + body],
    ['a length beside chunks', post('Content-Length: 35', 'Transfer-Encoding: chunked') + `23\r\n${body}\r\n0\r\n\r\n`],
    ['a length below zero', post('Content-Length: -1') + body],
    ['chunks of an impossible size', `${post('Transfer-Encoding: chunked')}zz\r\n${body}\r\n0\r\n\r\n`],
    ['a body that ends early', post('Content-Length: 1000') + body],
    ['a path with raw bytes', Buffer.from('GET /api/\xff\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n', 'latin1')],
  ])('is turned away, and the replica serves on: %s', async (_, bytes) => {
    const before = await picture(site.redis, site.prefix);
    const answer = await sendBytes(site.one, bytes);
    expect(answer).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
    expect((await own.on(site.one).call('getMe')).status).toBe(200);
  });

  test('a target in absolute form is served by its path alone', async () => {
    const answer = await sendBytes(
      site.one,
      head(['GET http://elsewhere.example/api/nothing HTTP/1.1', 'Connection: close']),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('a target that is an asterisk is not found', async () => {
    expect(await sendBytes(site.one, head(['OPTIONS * HTTP/1.1', 'Connection: close']))).toMatch(/^HTTP\/1\.1 404 /);
  });
});
