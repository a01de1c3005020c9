import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { takeConnection } from '../../../../services/server/http/take-connection.ts';
import { StreamSocket } from '../../../../services/sync/streams/stream/stream-socket.ts';

const REQUEST = 'GET /stream HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server;
let client: Socket;
/** What the client was sent. */
let text: string;

/** A client that has sent this, and the requests that the server then has. */
async function sent(bytes: string, count: number): Promise<[IncomingMessage, ServerResponse][]> {
  const requests: [IncomingMessage, ServerResponse][] = [];
  const arrived = new EventEmitter();
  server = createServer((req, res) => {
    res.setHeader('X-Request-Id', 'abc');
    if (requests.push([req, res]) === count) arrived.emit('all');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  text = '';
  client.setEncoding('utf8').on('data', (data) => (text += String(data)));
  client.on('error', () => undefined);
  client.write(bytes);
  await once(arrived, 'all');
  return requests;
}

afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

async function taken(): Promise<Socket> {
  const [[, res] = []] = await sent(REQUEST, 1);
  return takeConnection(res as ServerResponse, { 'Content-Type': 'text/event-stream' });
}

test('the body is what is written, after a head with all of its headers, and ends with the connection', async () => {
  const socket = await taken();
  socket.write('data: 1\n\n');
  socket.write('data: 2\n\n');
  socket.destroySoon();
  await once(client, 'close');
  const [head, body] = text.split('\r\n\r\n');
  expect(head).toMatch(
    /^HTTP\/1\.1 200 OK\r\nX-Request-Id: abc\r\nContent-Type: text\/event-stream\r\nConnection: close/,
  );
  expect(head).not.toMatch(/transfer-encoding|content-length/i);
  expect(body).toBe('data: 1\n\ndata: 2\n\n');
});

test('for HTTP the answer is over, and nothing of the request is kept', async () => {
  const [[req, res] = []] = await sent(REQUEST, 1);
  let closed = 0;
  res?.on('close', () => (closed += 1));
  // As Express does.
  Object.assign(req as IncomingMessage, { res, next: () => res });
  takeConnection(res as ServerResponse, {});
  expect(closed).toBe(1);
  expect([req?.rawHeaders, req?.headers, res?.socket]).toEqual([[], {}, null]);
  expect(req).toMatchObject({ res: undefined, next: undefined });
});

test('the request has ended long before its connection, and that is no error to it', async () => {
  const [[req, res] = []] = await sent(REQUEST, 1);
  let errors = 0;
  req?.on('error', () => (errors += 1));
  const socket = takeConnection(res as ServerResponse, {});
  await once(req as IncomingMessage, 'close');
  client.destroy();
  await new Promise((closed) => socket.on('close', closed));
  expect([req?.readableEnded, req?.destroyed, req?.readableAborted, errors]).toEqual([true, true, false, 0]);
});

test.each([
  ['hangs up', () => client.end()],
  ['sends another request behind it', () => client.write(REQUEST)],
])('a client that %s has its connection closed, and no second answer', async (_what, act) => {
  const socket = await taken();
  socket.write('data: 1\n\n');
  await once(client, 'data');
  act();
  await once(socket, 'close');
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test('a stream that is asked for behind an unanswered request is refused', async () => {
  const [, [, second] = []] = await sent(REQUEST + REQUEST, 2);
  expect(() => new StreamSocket(second as ServerResponse)).toThrow('wants a connection of its own');
});

test('a socket whose stream was refused is left to the next request as it was', async () => {
  const [[, res] = []] = await sent(REQUEST, 1);
  const count = (): number[] => ['close', 'drain'].map((event) => res?.socket?.listenerCount(event) ?? 0);
  const before = count();
  const stream = new StreamSocket(res as ServerResponse);
  expect(count()).not.toEqual(before);
  stream.release();
  expect(count()).toEqual(before);
  expect(res?.socket?.destroyed).toBe(false);
});
