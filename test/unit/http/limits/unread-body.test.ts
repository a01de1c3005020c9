import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type RunningServer, startServer } from '../../../../shared/service-kit/http/server.ts';
import { publicApp } from '../public-app.ts';

/* A sender that goes on for as long as it may: it sends a byte of the body now and then, long after the answer. */

const HOST = '127.0.0.1';
let server: RunningServer;
const sockets: Socket[] = [];

beforeAll(async () => {
  const { app } = publicApp({ rateScale: 0.000_001 });
  server = await startServer({ app, host: HOST, port: 0 });
});
afterAll(() => server.close(0));
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const ALICE_LINES = 'X-Dev-User: alice\r\nX-Dev-Device: laptop-01\r\n';

interface Slow {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves at the end, whatever it is: a sender that is cut off may see a reset. */
  readonly closed: Promise<void>;
}

/** Sends a head that announces a body, and then ten times a second one space of it. */
async function sendSlowly(head: string, bodyLength = '100000', type = 'application/json'): Promise<Slow> {
  const socket = connect(server.port, HOST);
  sockets.push(socket);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  socket.write(`${head}\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${bodyLength}\r\n\r\n{`);
  const timer = setInterval(() => socket.write(' '), 100);
  socket.once('close', () => clearInterval(timer));
  return { socket, received: () => text, closed };
}

const refused = [
  [404, 'POST /api/nothing HTTP/1.1'],
  [405, 'PUT /api/me HTTP/1.1'],
  [401, 'POST /api/message HTTP/1.1'],
  [403, `DELETE /api/clipboard HTTP/1.1\r\nOrigin: https://evil.example\r\n${ALICE_LINES.trimEnd()}`],
  [413, `POST /api/message HTTP/1.1\r\n${ALICE_LINES.trimEnd()}`, '10000000000'],
  [200, `GET /api/me HTTP/1.1\r\n${ALICE_LINES.trimEnd()}`],
  [200, 'GET /healthz HTTP/1.1'],
] as const;

test('whoever is answered before the end of its body is cut off within seconds, on every route', async () => {
  const startedAt = performance.now();
  const ends = refused.map(async ([status, head, length]) => {
    const { received, closed } = await sendSlowly(head, length);
    await closed;
    expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
  await Promise.all(ends);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
}, 15_000);

test('whoever is refused by a limit is cut off, too', async () => {
  const clear = `DELETE /api/clipboard HTTP/1.1\r\nX-Dev-User: bob`;
  const first = await sendSlowly(clear);
  await once(first.socket, 'data');
  const second = await sendSlowly(clear);
  await second.closed;
  expect(second.received()).toMatch(/^HTTP\/1.1 429 /);
}, 15_000);

test('whose body ends in time keeps the connection', async () => {
  const socket = connect(server.port, HOST);
  sockets.push(socket);
  socket.setEncoding('latin1');
  const ask = 'POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n';
  socket.write(`${ask}{`);
  const [first] = (await once(socket, 'data')) as [string];
  socket.write('}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [second] = (await once(socket, 'data')) as [string];
  expect([first.slice(0, 12), second.slice(0, 12)]).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
});

const UPLOAD = '/api/relay/01920000-0000-7000-8000-000000000001/0/0';
const chunk = (lines: string) => `PATCH ${UPLOAD} HTTP/1.1\r\n${lines}Upload-Offset: 0\r\nUpload-Complete: ?0`;

test.each([
  ['a sender of bytes that is refused', '401', chunk(''), true],
  ['a sender of bytes whose answer comes early', '204', chunk(ALICE_LINES), true],
  ['a sender of anything else', '401', 'POST /api/message HTTP/1.1', false],
])('%s is told at once whether the connection ends: %s', async (_, status, head, isClosed) => {
  const type = head.startsWith('PATCH') ? 'application/partial-upload' : undefined;
  const { socket, received } = await sendSlowly(head, undefined, type);
  await once(socket, 'data');
  expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(/\r\nConnection: close\r\n/.test(received())).toBe(isClosed);
});
