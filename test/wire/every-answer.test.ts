import { ERRORS, type ErrorCode } from '../../shared/contract/errors.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { isPublic, ROUTE_NAMES, routeOf, sampleRequest, senderOf } from '../support/samples.ts';
import { type Site, startSite } from '../support/site.ts';
import { expectProblem, request, type WireAnswer, type WireRequest } from '../support/wire.ts';

const user = randomUser();
const own = makeDevice({ user, name: 'Laptop' });
const other = makeDevice({ user, name: 'Phone' });
const scene = { own, other };

let site: Site;
beforeAll(async () => {
  site = await startSite({}, { alone: true });
  await Promise.all([own, other].map((device) => device.on(site.one).call('getMe')));
});
afterAll(() => site.stop());

const { headers } = own;
const json = { 'Content-Type': 'application/json' };
const message = (body: unknown): WireRequest => ({ method: 'POST', path: '/api/message', headers, body });

/** One request for every refusal that a wrong request alone can cause. */
const REFUSALS: Partial<Record<ErrorCode, WireRequest>> = {
  invalid_request: message({}),
  invalid_device_name: { method: 'PATCH', path: `/api/devices/${own.id}`, headers, body: { name: '*' } },
  empty_message: message({ to: 'Phone', content: ' ' }),
  unauthenticated: { path: '/api/me' },
  guest_forbidden: {
    ...{ method: 'PATCH', path: `/api/devices/${other.id}`, body: { name: 'x' } },
    headers: { ...headers, 'X-Dev-Scope': 'guest' },
  },
  device_required: { path: '/api/hub/events', headers: { 'X-Dev-User': user } },
  cross_site: { method: 'DELETE', path: '/api/clipboard', headers: { ...headers, Origin: 'https://evil.example' } },
  not_found: { path: '/api/nothing', headers },
  method_not_allowed: { method: 'DELETE', path: '/api/me', headers },
  name_taken: { method: 'PATCH', path: `/api/devices/${own.id}`, headers, body: { name: 'Phone' } },
  message_too_large: message({ to: 'Phone', content: 'x'.repeat(4_097) }),
  clipboard_too_large: {
    ...{ method: 'PUT', path: '/api/clipboard', headers },
    body: { content: 'x'.repeat(65_537), content_type: 'text/plain' },
  },
  body_too_large: message({ padding: 'x'.repeat(131_072) }),
  unsupported_media_type: { ...message({}), headers: { ...headers, 'Content-Type': 'text/plain' } },
};

const answers: [string, WireRequest][] = [
  ...ROUTE_NAMES.map((name): [string, WireRequest] => [
    name,
    { ...sampleRequest(name, scene), headers: senderOf(name, own).headers },
  ]),
  ...Object.entries(REFUSALS),
];

describe.each(answers)('the answer of %s', (title, wireRequest) => {
  const ask = (more: Record<string, string | string[]> = {}): Promise<WireAnswer> =>
    request(site.one, { ...wireRequest, headers: { ...wireRequest.headers, ...more } });

  test('tells the version of the contract, and nothing about the software', async () => {
    const { headers: told } = await ask();
    expect(told['x-api-version']).toBe('1');
    const forbidden = /^(server|x-powered-by|etag|access-control-.*|set-cookie)$/;
    expect(Object.keys(told).filter((name) => forbidden.test(name))).toEqual(title === 'logOut' ? ['set-cookie'] : []);
    expect(told['x-content-type-options']).toBe('nosniff');
  });

  test('is never stored by a cache when it comes from the API', async () => {
    const { headers: told } = await ask();
    const isApi = wireRequest.path.startsWith('/api/');
    expect(told['cache-control'] ?? 'absent').toMatch(isApi ? /^no-store(, no-transform)?$/ : /./);
  });

  test('carries the request id that it was given', async () => {
    expect((await ask({ 'X-Request-Id': 'check-7.of_9' })).headers['x-request-id']).toBe('check-7.of_9');
  });

  test.each(['x'.repeat(65), 'with space', 'semi;colon', 'ü', ''])(
    'does not echo "%s", which is no request id',
    async (id) => {
      const { headers: told } = await ask({ 'X-Request-Id': id });
      expect(told['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
      expect(told['x-request-id']).not.toBe(id);
    },
  );

  test('does not echo a request id that was sent twice', async () => {
    const { headers: told } = await ask({ 'X-Request-Id': ['first-id', 'second-id'] });
    expect(told['x-request-id']).not.toMatch(/first-id|second-id/);
  });

  test('allows no other origin to read it', async () => {
    const { headers: told } = await ask({
      ...json,
      Origin: 'https://evil.example',
      'Access-Control-Request-Method': 'PUT',
    });
    expect(Object.keys(told).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('a refusal', () => {
  test.each(Object.entries(REFUSALS) as [ErrorCode, WireRequest][])(
    '%s is a complete problem document with the status of the registry',
    async (code, wireRequest) => {
      const problem = expectProblem(await request(site.one, wireRequest), code);
      expect(problem.title).toBe(ERRORS[code].title);
    },
  );

  test('of a request with several faults names every field', async () => {
    const { errors } = expectProblem(
      await request(site.one, message({ to: 7, to_device_id: 'x', content: null })),
      'invalid_request',
    );
    expect(errors?.map(({ path }) => path).sort()).toEqual(
      expect.arrayContaining(['/body/content', '/body/to', '/body/to_device_id']),
    );
  });

  test('never repeats what was sent as a value', async () => {
    const secret = 'value-that-must-not-come-back';
    for (const body of [
      { to: secret.repeat(3), content: 'x' },
      { to_device_id: `${secret}!`, content: 'x' },
      { to: secret.slice(0, 32), content: 'x' },
    ]) {
      const { text, status } = await request(site.one, message(body));
      expect(status).toBeGreaterThanOrEqual(400);
      expect(text).not.toContain(secret.slice(0, 20));
    }
  });
});

test('two requests never have the same made-up id', async () => {
  const ids = await Promise.all(
    Array.from({ length: 50 }, async () => (await request(site.one, { path: '/healthz' })).headers['x-request-id']),
  );
  expect(new Set(ids).size).toBe(50);
});

test.each(ROUTE_NAMES.filter((name) => routeOf(name).answers[200] === 'text/html' && isPublic(routeOf(name))))(
  'the page of %s lets no script run and nobody frame it',
  async (name) => {
    const { headers: told } = await request(site.one, sampleRequest(name, scene));
    expect(told['content-type']).toBe('text/html; charset=utf-8');
    expect(told['content-security-policy']).toMatch(/default-src 'self'.*frame-ancestors 'none'/);
    expect(told['content-security-policy']).not.toMatch(/unsafe/);
  },
);
