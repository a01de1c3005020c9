import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type RunningServer, startServer } from '../../../../shared/service-kit/http/server.ts';

const HOST = '127.0.0.1';
const running: RunningServer[] = [];

async function serve(app: RequestListener): Promise<RunningServer> {
  const server = await startServer({ app, host: HOST, port: 0 });
  running.push(server);
  return server;
}

async function ask({ port }: RunningServer, agent?: Agent): Promise<IncomingMessage> {
  const [answer] = (await once(get({ host: HOST, port, agent }), 'response')) as [IncomingMessage];
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
