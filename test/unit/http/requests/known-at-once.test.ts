import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import request from 'supertest';
import type { Handlers } from '../../../../services/sync/http/handler.ts';
import { makeAccountQueue } from '../../../../services/sync/http/limits/account-queue.ts';
import { makeEdgeIdentity } from '../../../../services/sync/identity/modes/edge.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { publicApp } from '../public-app.ts';

/*
 * Behind an edge, a caller whose device has a row needs no further question. The chain then runs in one go, within Node's
 * parser, where an error is thrown and not rejected.
 */

const PHONE = {
  'X-Edge-Secret': 'proof',
  'X-Auth-Subject': 'alice',
  'X-Auth-Scope': 'full',
  'X-Auth-Meta': 'phone-0001',
};

function start(handlers: Partial<Handlers> = {}, requireRow: () => Promise<void> | null = () => null) {
  const accountQueue = makeAccountQueue();
  const identity = makeEdgeIdentity({ secrets: ['proof'] });
  return { accountQueue, ...publicApp({ handlers, identity, requireRow, accountQueue }) };
}

test('a caller without proof is refused and counted', async () => {
  const { app, counted } = start();
  const refused = await request(app).get('/api/devices').set('X-Auth-Subject', 'alice');
  expect([refused.status, refused.body.code]).toEqual([401, 'untrusted_edge']);
  expect(await counted('baton_auth_rejections_total', { reason: 'untrusted_edge' })).toBe(1);
});

test('a page leads a stranger to the login', async () => {
  const { app } = start();
  const led = await request(app).get('/link/plain?r=1').set('Accept', 'text/html');
  expect(led.status).toBe(302);
  expect(led.headers.location).toMatch(/^\/api\/auth\/login\?return_to=/);
});

test('a device that is missing, or not to be restored, is refused', async () => {
  const { app } = start({}, () => {
    throw new BatonError('device_required');
  });
  const { ['X-Auth-Meta']: _, ...nobody } = PHONE;
  for (const headers of [nobody, PHONE]) {
    const refused = await request(app).get('/api/transfer').set(headers);
    expect(refused.body.code).toBe('device_required');
  }
});

test.each([
  ['a body that does not fit', { to: 7 }, 'invalid_request', 0],
  ['a handler that throws', { to: 'Laptop', content: 'hello' }, 'store_full', 1],
] as const)(
  '%s is answered by the error handler, and the turn of the request ends',
  async (_name, body, code, calls) => {
    let called = 0;
    const { app, accountQueue } = start({
      sendMessage: () => {
        called += 1;
        throw new BatonError('store_full');
      },
    });
    const refused = await request(app).post('/api/message').set(PHONE).send(body);
    expect(refused.body.code).toBe(code);
    expect([called, accountQueue.size]).toEqual([calls, 0]);
  },
);

test('a body that comes in one piece with its head is read whole', async () => {
  const bodies: unknown[] = [];
  const { app } = start({
    sendMessage: ({ body }) => {
      bodies.push(body);
      return { status: 202 } as never;
    },
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const body = JSON.stringify({ to: 'Laptop', content: 'hello' });
  const head = Object.entries({
    ...{ Host: 'localhost', 'Content-Type': 'application/json', 'Content-Length': body.length, Connection: 'close' },
    ...PHONE,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`POST /api/message HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text;
  });
  await once(socket, 'close');
  server.close();
  expect(answer).toMatch(/^HTTP\/1\.1 202 /);
  expect(bodies).toEqual([{ to: 'Laptop', content: 'hello' }]);
});
