import { makeLogger, pathOf } from '../../../shared/service-kit/telemetry/logger.ts';

function logged(...args: [object, string?]): Record<string, unknown> {
  let text = '';
  const logger = makeLogger({ level: 'info', server: 'r1' }, { write: (line: string) => void (text = line) });
  logger.info(...args);
  return JSON.parse(text) as Record<string, unknown>;
}

const SECRET_HEADERS = [
  'Authorization',
  'Cookie',
  'Set-Cookie',
  'X-Edge-Secret',
  'X-Poll-Secret',
  'X-Auth-Subject',
  'X-Auth-Assertion',
  'x_auth_name',
  'X-Dev-User',
];

test.each(SECRET_HEADERS)('the header %s is not logged', (name) => {
  const line = logged({ headers: { [name]: 'hidden', Accept: 'text/html' } });
  expect(line['headers']).toEqual({ [name]: '[removed]', Accept: 'text/html' });
  expect(JSON.stringify(logged({ req: { method: 'GET', url: '/x', headers: { [name]: 'hidden' } } }))).not.toContain(
    'hidden',
  );
});

test('credentials logged by name are removed', () => {
  expect(logged({ authorization: 'hidden', 'x-edge-secret': 'hidden' })).toMatchObject({
    authorization: '[removed]',
    'x-edge-secret': '[removed]',
  });
});

test('a request is logged as method and path', () => {
  const req = {
    id: 'abc',
    method: 'GET',
    url: '/events',
    originalUrl: '/api/hub/events?dev_user=hidden#x',
    body: 'hidden',
  };
  expect(logged({ req })['req']).toEqual({ id: 'abc', method: 'GET', path: '/api/hub/events' });
});

test.each([
  ['/link?r=1&c=2', '/link'],
  ['http://baton.example/link?r=1', '/link'],
  ['/a\n?x', '/a\n'],
  ['', ''],
])('of %j only the path is logged', (url, path) => {
  expect(pathOf(url)).toBe(path);
});

test('an error is logged with its cause, and without what it carries of the request', () => {
  const cause = Object.assign(new Error('ERR'), { command: { name: 'evalsha', args: ['hidden'] }, code: 'EBAD' });
  const error = Object.assign(new Error('failed', { cause }), { body: 'hidden' });
  const line = logged({ err: error });
  expect(line['err']).toMatchObject({ type: 'Error', message: 'failed', cause: { message: 'ERR', code: 'EBAD' } });
  expect(JSON.stringify(line)).not.toContain('hidden');
});

test('every line tells which replica wrote it', () => {
  expect(logged({})).toMatchObject({ server: 'r1' });
});
