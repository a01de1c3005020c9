import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { StreamSocket } from '../../../services/sync/streams/stream/stream-socket.ts';

const REQUEST = 'GET /stream HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server;
let client: Socket;
/** The text that the client was sent. */
let text: string;

/** Makes a client ask for a stream, and returns the request at the server. */
async function asked(): Promise<[IncomingMessage, ServerResponse]> {
  const arrived = new EventEmitter();
  server = createServer((req, res) => {
    res.setHeader('X-Request-Id', 'abc');
    arrived.emit('request', req, res);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  text = '';
  client.setEncoding('utf8').on('data', (data) => (text += String(data)));
  client.on('error', () => undefined);
  client.write(REQUEST);
  return (await once(arrived, 'request')) as [IncomingMessage, ServerResponse];
}

afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

test('the body is what is written, after a head with all of its headers, and ends with the connection', async () => {
  const [, res] = await asked();
  const stream = new StreamSocket(res);
  stream.start();
  stream.write(Buffer.from('data: 1\n\n'));
  stream.farewell(Buffer.from('data: 2\n\n'));
  await once(client, 'close');
  const [head, body] = text.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Request-Id: abc\r\nContent-Type: text\/event-stream/);
  expect(head).toMatch(/\r\nConnection: close/);
  expect(head).not.toMatch(/transfer-encoding|content-length/i);
  expect(body).toBe('data: 1\n\ndata: 2\n\n');
});

test('the head goes out with the first frame, and without one too', async () => {
  const [, res] = await asked();
  const stream = new StreamSocket(res);
  stream.start();
  const [first] = (await once(client, 'data')) as [string];
  expect(first).toMatch(/\r\n\r\n$/);
  stream.write(Buffer.from('data: 1\n\n'));
  await once(client, 'data');
  expect(text).toMatch(/data: 1\n\n$/);
});

test.each([
  ['hangs up', () => client.end()],
  ['is cut off', () => client.destroy()],
])('a client that %s ends the stream, and that is no error to its request', async (_what, act) => {
  const [req, res] = await asked();
  const stream = new StreamSocket(res);
  let errors = 0;
  req.on('error', () => (errors += 1));
  const closed = new Promise<void>((onClose) => stream.listen({ onClose, onDrain: () => undefined }));
  stream.start();
  stream.write(Buffer.from('data: 1\n\n'));
  await once(client, 'data');
  act();
  await closed;
  expect([req.readableEnded, errors]).toEqual([true, 0]);
  // A frame that comes too late does no harm.
  stream.write(Buffer.from('data: 2\n\n'));
  stream.release();
});

test('a client that takes nothing is waited for, and has everything once it reads', async () => {
  const [, res] = await asked();
  client.pause();
  const stream = new StreamSocket(res);
  let drains = 0;
  stream.listen({ onClose: () => undefined, onDrain: () => (drains += 1) });
  stream.start();
  const frame = Buffer.from(`data: ${'x'.repeat(65_536)}\n\n`);
  let written = 0;
  // The kernel takes some megabytes first.
  for (; stream.bufferedBytes < 1_024 * 1_024; written += 1) stream.write(frame, 1_000);
  expect([stream.writable, stream.isTooSlow(1_000)]).toEqual([false, true]);
  const waiting = stream.whenWritable();
  client.resume();
  expect(await waiting).toBe(true);
  expect([stream.writable, stream.isTooSlow(100_000), drains]).toEqual([true, false, 1]);
  stream.farewell(Buffer.from('data: end\n\n'));
  await once(client, 'close');
  expect(text.match(/data: x/g)).toHaveLength(written);
  expect(text).toMatch(/data: end\n\n$/);
});

test('a client that takes nothing of the last frame lingers, and can be cut', async () => {
  const [, res] = await asked();
  client.pause();
  const stream = new StreamSocket(res);
  const closed = new Promise<void>((onClose) => stream.listen({ onClose, onDrain: () => undefined }));
  stream.start();
  const frame = Buffer.alloc(65_536, 'x');
  while (stream.bufferedBytes < 1_024 * 1_024) stream.write(frame);
  stream.farewell(frame);
  expect([stream.isLingering(performance.now()), stream.isLingering(performance.now() + 6_000)]).toEqual([false, true]);
  stream.destroy();
  await closed;
});

test('an answer whose stream was refused is left to whoever answers instead', async () => {
  const [, res] = await asked();
  const count = (): number[] => ['close', 'drain'].map((event) => res.listenerCount(event));
  const before = count();
  const stream = new StreamSocket(res);
  expect(count()).not.toEqual(before);
  stream.release();
  expect([count(), res.destroyed]).toEqual([before, false]);
});
