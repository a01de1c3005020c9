import { once } from 'node:events';
import { connect } from 'node:net';
import request from 'supertest';
import { messageClasses } from '../../../../shared/service-kit/http/express-app.ts';
import { type RunningServer, startServer } from '../../../../shared/service-kit/http/server.ts';
import type { Call, Handlers } from '../../../../services/sync/http/handler.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { fillPath } from '../../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../../shared/contract/routes.ts';
import { ALICE, publicApp } from '../public-app.ts';

/* Requests of a malicious program never get a 500, and always get the problem document. */

const HOST = '127.0.0.1';
const lists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const signal = (payload: string) => `{"to":"Phone","kind":"offer","payload":${payload}}`;

/** Serialises what it was given, as handlers do that pass it on. */
const echo = (status: number) => (call: unknown) => {
  JSON.stringify((call as Call<Route>).body);
  return { status } as never;
};
const { app } = publicApp({
  handlers: Object.fromEntries(
    Object.entries<Route>(ROUTES)
      .filter(([, route]) => route.body !== null)
      .map(([name, route]) => [name, echo(Number(Object.keys(route.answers)[0]))]),
  ) as unknown as Partial<Handlers>,
});

const post = (path: string, body: string | Buffer, type = 'application/json') =>
  request(app).post(path).set(ALICE).set('Content-Type', type).send(body.toString());

describe('a body that nests', () => {
  test.each([
    ['as deep as allowed', signal(lists(31)), 202],
    ['one deeper', signal(lists(32)), 400],
    ['5,000 deep', signal(lists(5_000)), 400],
    ['5,000 objects deep', signal(objects(3_000)), 400],
    ['for 128 KB and does not come back', '['.repeat(131_072), 400],
    ['in what is ignored', `{"to":"Phone","kind":"offer","payload":1,"other":${lists(100)}}`, 400],
    ['only in a text', signal(JSON.stringify(lists(500))), 202],
    ['only in a text with quotes and backslashes', signal(JSON.stringify(`\\"${'[\\"'.repeat(500)}\\`)), 202],
    ['only in the name of a field', signal(`{${JSON.stringify('{'.repeat(500))}:1}`), 202],
    ['in many lists beside each other', signal(`[${Array(1_000).fill('[[]]').join(',')}]`), 202],
  ])('%s is answered with %3$i', async (_what, body, status) => {
    const answer = await post('/api/hub/signal', body);
    expect(answer.status).toBe(status);
    if (status === 400) expect(JSON.parse(answer.text)).toMatchObject({ code: 'invalid_request' });
  });

  test('is looked at in linear time', async () => {
    const body = `{"x":"${'\\\\'.repeat(30_000)}${'\\"'.repeat(30_000)}"}`;
    const startedAt = performance.now();
    expect((await post('/api/hub/signal', body)).status).toBe(400);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

const BODIES: Record<string, string> = {
  'a lone surrogate': '{"to":"Phone","content":"\\ud800"}',
  'a field __proto__': '{"__proto__":{"to":"Phone"},"to":"Phone","content":"x"}',
  'a field constructor': '{"constructor":{"prototype":{"x":1}},"to":"Phone","content":"x"}',
  'a huge number': '{"to":1e400,"content":-1e400}',
  'a number with 1,000 digits': `{"to":${'9'.repeat(1_000)},"content":1}`,
  'a field twice': '{"to":"Phone","to":"Laptop","content":"x"}',
  'NUL characters': '{"to":"Pho\\u0000ne","content":"\\u0000"}',
  'a byte order mark': '\ufeff{"to":"Phone","content":"x"}',
  'a list instead of an object': '[]',
  null: 'null',
  'a text': '"x"',
  nothing: '',
  'white space': ' \n\t ',
  'an end too early': '{"to":"Phone","content":"x',
  'an escape that is none': '{"to":"\\x41"}',
};
const posts = Object.entries<Route>(ROUTES).filter(([, { body, bodyKind }]) => body !== null && bodyKind === 'json');
const PARAMS = {
  transfer_id: '01920000-0000-7000-8000-000000000001',
  device_id: 'laptop-01',
  index: '0',
  generation: '0',
};

describe.each(Object.entries(BODIES))('a body with %s', (_what, body) => {
  test.each(posts)('is no 500 on %s', async (_name, { method, path }) => {
    const send = request(app)[method.toLowerCase() as 'post'](fillPath(path, PARAMS)).set(ALICE);
    const answer = await send.set('Content-Type', 'application/json').send(body);
    expect(answer.status).toBeLessThan(500);
    if (answer.status >= 400) expect(answer.headers['content-type']).toBe('application/problem+json');
  });
});

test.each([
  'application/json; charset=utf-16',
  'application/json; charset=',
  'application/json; boundary=x',
  'application/jsonp',
  'text/json',
  'x'.repeat(4_000),
  ';',
])('the content type %s is no 500', async (type) => {
  expect((await post('/api/message', '{}', type)).status).toBe(415);
});

/** Requests that no client library would send, as raw bytes. */
const RAW: readonly (readonly [string, string])[] = [
  ['a path with a broken escape', 'GET /api/transfer/%zz HTTP/1.1'],
  ['a path with half a character', 'GET /api/devices/%ff%fe HTTP/1.1'],
  ['a NUL in the path', 'GET /api/transfer/%00 HTTP/1.1'],
  ['a broken escape in the query', 'GET /api/transfer?state=%zz&cursor=%ff HTTP/1.1'],
  ['a query of 8,000 characters', `GET /api/transfer?cursor=${'x'.repeat(8_000)} HTTP/1.1`],
  ['1,000 fields in the query', `GET /api/transfer?${'limit=1&'.repeat(1_000)} HTTP/1.1`],
  ['brackets in the query', 'GET /api/transfer?limit[$gt]=1&__proto__[x]=1&constructor=1 HTTP/1.1'],
  ['a name from the prototype as path', 'GET /api/__proto__ HTTP/1.1'],
  ['an absolute target', 'GET http://elsewhere.example/api/me HTTP/1.1'],
  ['a target that is a host', 'GET //elsewhere.example/api/me HTTP/1.1'],
  ['no path', 'OPTIONS * HTTP/1.1'],
  ['8-bit characters in a header', 'GET /api/clipboard HTTP/1.1\r\nX-Device-Name: \xff\xfe\x80'],
  ['odd cookies', 'GET /api/me HTTP/1.1\r\nCookie: baton; =; ;;; baton=%zz; __Host-baton="\xff"; a=b=c'],
  ['odd credentials', 'GET /api/me HTTP/1.1\r\nAuthorization: Bearer \xff\r\nAuthorization: Basic'],
  ['an odd position', 'GET /api/hub/events?last_event_id=%00 HTTP/1.1\r\nLast-Event-ID: \xff'],
  ['an odd range', 'GET /api/me HTTP/1.1\r\nRange: bytes=9-1,-,x\r\nIf-Match: "\xff'],
  ['an odd request id', 'GET /api/me HTTP/1.1\r\nX-Request-Id: \xff\r\nX-Forwarded-For: ,,%,::\xff'],
  ['an upgrade', 'GET /api/me HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket'],
  ['a device type that is a number', 'GET /api/me HTTP/1.1\r\nX-Dev-Type: 7'],
];

describe('over the wire', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({ app, classes: messageClasses(app), host: HOST, port: 0 });
  });
  afterAll(() => server.close(0));

  test.each(RAW)('%s is no 500', async (_what, head) => {
    const socket = connect(server.port, HOST);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    const identity = 'X-Dev-User: alice\r\nX-Dev-Device: laptop-01';
    socket.write(
      `${head}\r\nHost: localhost\r\n${identity}\r\n${head.includes('Upgrade') ? '' : 'Connection: close\r\n'}\r\n`,
      'latin1',
    );
    if (head.includes('Upgrade')) {
      await once(socket, 'data');
      socket.end();
    }
    await once(socket, 'close');
    const [, status = '0'] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
    expect(Number(status)).toBeGreaterThanOrEqual(200);
    expect(Number(status)).toBeLessThan(500);
    if (Number(status) >= 400) expect(text).toContain('"request_id"');
  });

  // Express reads these with an older parser, unless they are first brought into the one form.
  test.each([
    ['http://[::1', 200],
    ['foo://host', 200],
    ['foo://host?x', 200],
    ['foo://host/api/nothing', 404],
    ['/api\\me', 404],
    ['/api\\me#', 404],
    ['/api/me#x', 200],
  ])('the target %j is answered with %i, as all requests are', async (target, status) => {
    const socket = connect(server.port, HOST);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    const identity = 'X-Dev-User: alice\r\nX-Dev-Device: laptop-01';
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n${identity}\r\nConnection: close\r\n\r\n`, 'latin1');
    await once(socket, 'close');
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toMatch(/^x-request-id: /im);
    expect(text).toMatch(/^x-api-version: 1\r$/im);
  });

  // Node itself refuses these, before the application sees them.
  test.each([
    ['without a host', 'GET / HTTP/1.1', 400],
    ['with an expectation that nobody knows', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: wonders', 417],
  ])(
    'a request %s is refused with the headers of all answers, and the next one is served',
    async (_what, head, status) => {
      const ask = async (lines: string): Promise<string> => {
        const socket = connect(server.port, HOST);
        let text = '';
        socket.setEncoding('latin1').on('data', (chunk: string) => {
          text += chunk;
        });
        socket.write(`${lines}\r\nConnection: close\r\n\r\n`);
        await once(socket, 'close');
        return text;
      };
      const refused = await ask(head);
      expect(refused).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(refused).toMatch(/^x-content-type-options: nosniff\r$/im);
      expect(await ask('GET /api/nothing HTTP/1.1\r\nHost: localhost')).toMatch(/^HTTP\/1.1 404 /);
    },
  );
});
