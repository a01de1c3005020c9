import { EventEmitter, once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { makeConnectionsFull } from '../../../../services/sync/http/limits/connections-full.ts';
import { makeConnectionCap } from '../../../../services/sync/http/limits/connection-cap.ts';
import { type RunningServer, startServer } from '../../../../shared/service-kit/http/server.ts';
import { makeMetrics } from '../../../../services/sync/telemetry/metrics.ts';

const HOST = '127.0.0.1';
const running: RunningServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map((server) => server.close(0)));
});

function open({ port }: RunningServer): Socket {
  const socket = connect(port, HOST);
  sockets.push(socket);
  socket.on('error', () => undefined);
  return socket;
}

async function answers(socket: Socket): Promise<boolean> {
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const heard = await Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
  return heard;
}

async function serve(limit: number | null, trustedProxies: readonly string[] = []) {
  let refused = 0;
  const admits = makeConnectionCap({ limit, trustedProxies, onRefused: () => (refused += 1) });
  const server = await startServer({ app: (_req, res) => res.end('x'), host: HOST, port: 0, admits });
  running.push(server);
  return { server, refused: () => refused };
}

test('connections beyond what the replica has descriptors for are closed at once, and it says so once a minute', async () => {
  let nowMs = 0;
  const said: object[] = [];
  const metrics = makeMetrics({ version: 'test' });
  const logger = { error: (fields: object) => void said.push(fields) } as unknown as Logger;
  const onFull = makeConnectionsFull({ limit: 2, logger, metrics, now: () => nowMs });
  const app: RequestListener = (_req, res) => res.end('x');
  const server = await startServer({ app, host: HOST, port: 0, maxConnections: 2, onFull });
  running.push(server);
  const [first, second] = [open(server), open(server)];
  expect([await answers(first), await answers(second), await answers(open(server))]).toEqual([true, true, false]);
  expect(await answers(open(server))).toBe(false);
  expect(said).toEqual([{ limit: 2, refused: 1 }]);
  nowMs = 60_000;
  expect(await answers(open(server))).toBe(false);
  expect(said).toEqual([
    { limit: 2, refused: 1 },
    { limit: 2, refused: 2 },
  ]);
  expect(await metrics.registry.metrics()).toMatch(/^baton_http_connections_refused_total\{cause="replica"\} 3$/m);
  first.destroy();
  let isIn = false;
  for (let tries = 0; tries < 100 && !isIn; tries++) isIn = await answers(open(server));
  expect(isIn).toBe(true);
});

describe('connections of one address', () => {
  test('beyond the limit are closed, until one of the others has closed', async () => {
    const { server, refused } = await serve(2);
    const [first, second] = [open(server), open(server)];
    expect([await answers(first), await answers(second), await answers(open(server))]).toEqual([true, true, false]);
    expect(refused()).toBe(1);
    first.destroy();
    let isIn = false;
    // The server notices the end of the first connection in its own time.
    for (let tries = 0; tries < 100 && !isIn; tries++) isIn = await answers(open(server));
    expect(isIn).toBe(true);
  });

  test('of a trusted proxy are not counted', async () => {
    const { server } = await serve(1, ['127.0.0.0/8']);
    expect(await Promise.all([1, 2, 3].map(() => answers(open(server))))).toEqual([true, true, true]);
  });

  /** Returns how many of 2,500 connections from this address are let in. */
  const admitted = (address: string | ((i: number) => string), limit: number | null): number => {
    const admits = makeConnectionCap({ limit, trustedProxies: [], onRefused: () => undefined });
    const socketOf = (i: number) =>
      Object.assign(new EventEmitter(), { remoteAddress: typeof address === 'string' ? address : address(i) });
    return Array.from({ length: 2_500 }, (_, i) => admits(socketOf(i) as unknown as Socket)).filter(Boolean).length;
  };

  test.each(['127.0.0.1', '::1', '10.1.2.3', '::ffff:192.168.1.1', '172.17.0.1', 'fd00::1', 'fe80::1%eth0'])(
    'are not limited for %s, which is of our own network, unless somebody said so',
    (address) => {
      expect(admitted(address, null)).toBe(2_500);
      expect(admitted(address, 100)).toBe(100);
    },
  );

  test.each(['203.0.113.7', '::ffff:203.0.113.7', '2a00:1450::1'])('are limited for %s', (address) => {
    expect(admitted(address, null)).toBe(2_000);
    expect(admitted(address, 0)).toBe(2_500);
  });

  test('are counted together for a whole IPv6 customer', () => {
    expect(admitted((i) => `2a00:1450:1:7f${i % 2}::${i.toString(16)}`, null)).toBe(2_000);
  });
});

test('a client that takes nothing of its answer is cut off, and one that does is not', async () => {
  const pieces = Array.from({ length: 512 }, () => Buffer.alloc(64 * 1024));
  const app: RequestListener = (_req, res) => void Readable.from(pieces).pipe(res);
  const server = await startServer({ app, host: HOST, port: 0, stuckMs: 2_000 });
  running.push(server);
  const paused = open(server).pause();
  const closed = new Promise((resolve) => paused.once('close', resolve));
  const reader = open(server);
  const whole = new Promise<void>((resolve) => {
    let taken = 0;
    reader.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      if (taken > pieces.length * 64 * 1024) resolve();
    });
  });
  for (const socket of [paused, reader]) socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  // A paused socket notices its end only when it sends.
  const nagging = setInterval(() => paused.write(' '), 50);
  await Promise.all([closed, whole]);
  clearInterval(nagging);
  expect(reader.destroyed).toBe(false);
}, 30_000);
