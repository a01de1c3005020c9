import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { type RunningServer, startServer } from '../../../../shared/service-kit/http/server.ts';

const HOST = '127.0.0.1';
/** Clients in a thread of their own. Each sends a request as soon as it is connected. */
const CLIENTS = `
const { parentPort, workerData: { port, clients, connected } } = require('node:worker_threads');
const { connect } = require('node:net');
const ask = () => new Promise((resolve) => {
  let text = '';
  const socket = connect({ host: '${HOST}', port }, () => {
    socket.write('GET / HTTP/1.1\\r\\nHost: baton.test\\r\\nConnection: close\\r\\n\\r\\n');
    Atomics.add(connected, 0, 1);
    Atomics.notify(connected, 0);
  });
  socket.setEncoding('utf8').on('data', (part) => (text += part));
  socket.on('error', ({ code }) => resolve(code)).on('close', () => resolve(text.split('\\r\\n').at(-1)));
});
Promise.all(Array.from({ length: clients }, ask)).then((answers) => parentPort.postMessage(answers));
`;
const running: RunningServer[] = [];

async function serve(app: RequestListener): Promise<RunningServer> {
  const server = await startServer({ app, host: HOST, port: 0 });
  running.push(server);
  return server;
}

async function ask({ port }: RunningServer, agent?: Agent, path = '/'): Promise<IncomingMessage> {
  const [answer] = (await once(get({ host: HOST, port, agent, path }), 'response')) as [IncomingMessage];
  return answer;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close(0)));
});

test('a free port is taken and told', async () => {
  const server = await serve((_req, res) => res.end('served'));
  const answer = await ask(server);
  expect((await answer.toArray()).join('')).toBe('served');
});

test('a taken port is reported with its host and number', async () => {
  const { port } = await serve((_req, res) => res.end());
  const second = startServer({ app: () => undefined, host: HOST, port });
  await expect(second).rejects.toThrow(`${HOST}:${port} is taken by another process`);
});

test('an address of another machine is reported', async () => {
  await expect(startServer({ app: () => undefined, host: '203.0.113.1', port: 0 })).rejects.toThrow(
    '203.0.113.1 is not an address of this machine',
  );
});

test('a connection stays open between requests for the time that the server was given, and not longer', async () => {
  const app: RequestListener = (_req, res) => res.end();
  const seconds = [1, 3_600];
  const servers = await Promise.all(
    seconds.map((keepAliveSeconds) => startServer({ app, host: HOST, port: 0, keepAliveSeconds })),
  );
  running.push(...servers);
  const sockets = servers.map(({ port }) => connect({ host: HOST, port }));
  const heads = await Promise.all(
    sockets.map(async (socket) => {
      socket.write('GET / HTTP/1.1\r\nHost: baton.test\r\n\r\n');
      const [head] = (await once(socket, 'data')) as [Buffer];
      return String(head);
    }),
  );
  for (const [index, head] of heads.entries()) expect(head).toContain(`Keep-Alive: timeout=${seconds[index]}\r\n`);
  const [brief, long] = sockets as [Socket, Socket];
  await once(brief, 'close');
  expect(long.readableEnded).toBe(false);
  long.destroy();
});

test('closing lets a running request finish', async () => {
  let finish: (res: ServerResponse) => void = () => undefined;
  const begun = new Promise<ServerResponse>((resolve) => {
    finish = resolve;
  });
  const server = await serve((_req, res) => finish(res));
  const asked = ask(server, new Agent({ keepAlive: true }));
  const res = await begun;
  const closed = server.close(600_000);
  res.end('late');
  expect((await (await asked).toArray()).join('')).toBe('late');
  await closed;
});

test('from the notice on each answer ends its connection, that of a request under way included', async () => {
  let begin: (res: ServerResponse) => void = () => undefined;
  const begun = new Promise<ServerResponse>((resolve) => {
    begin = resolve;
  });
  const server = await serve((req, res) => void (req.url === '/slow' ? begin(res) : res.end()));
  const [idle, slow] = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ keepAlive: true })];
  const first = await ask(server, idle);
  const { localPort } = first.socket;
  expect(first.headers.connection).toBe('keep-alive');
  await first.toArray();
  const underWay = ask(server, slow, '/slow');
  const res = await begun;

  server.endAfterAnswers();
  res.end();
  expect((await underWay).headers.connection).toBe('close');
  // The connection was left open, so the request goes over it.
  const last = await ask(server, idle);
  expect([last.headers.connection, last.socket.localPort === localPort]).toEqual(['close', true]);
  await last.toArray();
  const next = await ask(server, idle);
  expect([next.headers.connection, next.socket.localPort === localPort]).toEqual(['close', false]);
});

test('closing answers connections that wait to be accepted', async () => {
  const server = await serve((_req, res) => res.end('in time'));
  const clients = 3;
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(CLIENTS, { eval: true, workerData: { port: server.port, clients, connected } });
  const answers = once(client, 'message');
  await once(client, 'online');
  // The server accepts nothing while this thread waits.
  while (Atomics.load(connected, 0) < clients) Atomics.wait(connected, 0, Atomics.load(connected, 0));
  const closed = server.close(600_000);
  expect(await answers).toEqual([Array.from({ length: clients }, () => 'in time')]);
  await closed;
  await client.terminate();
});

test('closing cuts what is still open at the deadline', async () => {
  const server = await serve((_req, res) => {
    res.writeHead(200);
    res.write('never ends');
  });
  const answer = await ask(server);
  const cut = once(answer, 'error');
  answer.resume();
  await server.close(0);
  expect(String((await cut)[0])).toContain('aborted');
});

test('closing twice is closing once', async () => {
  const server = await serve((_req, res) => res.end());
  expect(server.close(0)).toBe(server.close(0));
  await server.close(0);
});

test('a closed server accepts nobody', async () => {
  const server = await serve((_req, res) => res.end());
  await server.close(0);
  await expect(ask(server)).rejects.toThrow('ECONNREFUSED');
});
