import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { oneAtATime } from '../../../../shared/service-kit/http/one-at-a-time.ts';
import { type RunningServer, startServer } from '../../../../shared/service-kit/http/server.ts';

const HOST = '127.0.0.1';
const ask = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');

let server: RunningServer;
let client: Socket;
let text: string;

/** Sends this to a server. The test answers `/wait`. */
async function sent(bytes: string) {
  const begun: string[] = [];
  const held: ServerResponse[] = [];
  const app: RequestListener = (req, res) => {
    begun.push(req.url ?? '');
    if (req.url === '/wait') held.push(res);
    else res.end(req.url);
  };
  server = await startServer({ app: oneAtATime(app), host: HOST, port: 0 });
  client = connect(server.port, HOST);
  text = '';
  client.setEncoding('utf8').on('data', (data) => (text += String(data)));
  client.on('error', () => undefined);
  client.write(bytes);
  while (held.length === 0) await new Promise(setImmediate);
  return { begun, wait: held[0] as ServerResponse };
}

afterEach(async () => {
  client.destroy();
  await server.close(0);
});

const bodies = (): string[] => [...text.matchAll(/\r\n\r\n(\/[a-z]+)/g)].map(([, path]) => path as string);

test('a request behind another begins when that was answered, and all are answered in their order', async () => {
  const { begun, wait } = await sent(ask('/wait') + ask('/b') + ask('/c', 'Connection: close'));
  expect(begun).toEqual(['/wait']);
  wait.end('/wait');
  await once(client, 'close');
  expect(begun).toEqual(['/wait', '/b', '/c']);
  expect(bodies()).toEqual(['/wait', '/b', '/c']);
});

test('requests that come one after the other are served on one connection', async () => {
  const { begun, wait } = await sent(ask('/wait'));
  wait.end('/wait');
  await once(client, 'data');
  client.write(ask('/b', 'Connection: close'));
  await once(client, 'close');
  expect(begun).toEqual(['/wait', '/b']);
});

test('nothing that was sent behind an answer that ends the connection is carried out', async () => {
  const { begun, wait } = await sent(ask('/wait') + ask('/b'));
  wait.setHeader('Connection', 'close').end('/wait');
  await once(client, 'close');
  expect([begun, bodies()]).toEqual([['/wait'], ['/wait']]);
});

test('nothing that was sent behind a body that nobody read is carried out either', async () => {
  const begun: string[] = [];
  const app: RequestListener = (req, res) => {
    begun.push(req.url ?? '');
    res.setHeader('Connection', 'close').end(req.url);
  };
  server = await startServer({ app: oneAtATime(app), host: HOST, port: 0 });
  client = connect(server.port, HOST).resume();
  client.write(`POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc${ask('/b')}`);
  await once(client, 'close');
  expect(begun).toEqual(['/refused']);
});

test('nothing that was sent behind an answer is carried out when its client leaves', async () => {
  const { begun, wait } = await sent(ask('/wait') + ask('/b'));
  client.destroy();
  await once(wait, 'close');
  expect(begun).toEqual(['/wait']);
});

test('a client that sends more ahead than any honest one is cut off', async () => {
  const { begun } = await sent(ask('/wait') + ask('/b').repeat(17));
  await once(client, 'close');
  expect([begun, text]).toEqual([['/wait'], '']);
});
