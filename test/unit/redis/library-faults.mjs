import { createServer } from 'node:net';
import { Cluster, Redis } from 'ioredis';

/*
 * Runs ioredis without Baton's work-arounds in a process of its own: `node library-faults.mjs <fault>`. The process ends as the
 * fault makes it end. If the library is fixed, it prints "mended" and ends with 0.
 */

const HOST = '127.0.0.1';
const listen = (server) => new Promise((resolve) => server.listen(0, HOST, () => resolve(server.address().port)));
const mended = () => {
  process.stdout.write('mended\n');
  process.exit(0);
};
const ignore = () => undefined;

const FAULTS = {
  /** The second connection refuses the subscription that the library makes again by itself. */
  async resubscribe() {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      const isFirst = connections === 1;
      socket.on('error', ignore).on('data', (data) => {
        if (!/subscribe/i.test(String(data))) return socket.write('+OK\r\n');
        if (!isFirst) return socket.write('-NOPERM no\r\n', () => setTimeout(mended, 500));
        socket.end('*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n');
      });
    });
    const port = await listen(server);
    const redis = new Redis({ host: HOST, port, disableClientInfo: true, enableReadyCheck: false });
    redis.on('error', ignore);
    await redis.subscribe('a');
  },

  /** Connections close during the handshake with a server that wants a certificate of them. */
  async handshake() {
    const port = Number(process.argv[3]);
    for (let i = 0; i < 200; i++) {
      const redis = new Redis({ host: HOST, port, tls: {}, lazyConnect: true, retryStrategy: () => null });
      redis.on('error', ignore);
      const connecting = new Promise((resolve) => redis.once('connecting', resolve));
      redis.connect().catch(ignore);
      await connecting;
      for (let turn = 0; turn < i % 8; turn++) await new Promise((resolve) => setImmediate(resolve));
      redis.disconnect();
    }
    setTimeout(mended, 1_000);
  },

  /**
   * A connection is closed while its socket connects, or ended by the primary and not opened again. The watch at its sentinel
   * keeps the process alive.
   */
  async watch() {
    const isClosed = process.argv[3] === 'closed';
    const primary = createServer((socket) => (isClosed ? socket.on('error', ignore).resume() : socket.destroy()));
    const port = await listen(primary);
    const address = `*2\r\n$9\r\n${HOST}\r\n$${String(port).length}\r\n${port}\r\n`;
    const replies = { SENTINEL: address, SUBSCRIBE: '*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n' };
    const sentinel = createServer((socket) => {
      socket.on('error', ignore).on('data', (data) => {
        for (const [, command] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
          socket.write(replies[command.toUpperCase()] ?? '+OK\r\n');
        }
      });
    });
    const sentinels = [{ host: HOST, port: await listen(sentinel) }];
    for (const server of [primary, sentinel]) server.unref().on('connection', (socket) => socket.unref());
    process.once('exit', () => process.stdout.write('mended\n'));
    const options = { sentinels, name: 'main', updateSentinels: false };
    const strategies = { retryStrategy: null, sentinelReconnectStrategy: () => 100 };
    const redis = new Redis({ ...options, ...strategies, failoverDetector: true });
    redis.on('error', ignore);
    while (!redis.stream?.connecting) await new Promise((resolve) => setImmediate(resolve));
    if (isClosed) redis.disconnect();
    setTimeout(() => process.stdout.write('still there\n', () => process.kill(process.pid, 'SIGKILL')), 3_000).unref();
  },

  /** A cluster is closed while it asks for its slots, and its timer keeps the process alive. */
  async refresh() {
    let asked = 0;
    let port = 0;
    let cluster = null;
    const slots = () => `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n${HOST}\r\n:${port}\r\n`;
    const server = createServer((socket) => {
      socket.on('error', ignore).on('data', (data) => {
        if (!/slots/i.test(String(data))) return socket.write('+OK\r\n');
        asked += 1;
        if (asked < 3) return socket.write(slots());
        // The cluster is closed now, and answered a moment later.
        cluster.disconnect();
        setTimeout(() => socket.end(slots()), 50);
        server.close();
      });
    });
    port = await listen(server);
    server.unref();
    process.once('exit', () => process.stdout.write('mended\n'));
    cluster = new Cluster([{ host: HOST, port }], {
      slotsRefreshInterval: 100,
      enableReadyCheck: false,
      redisOptions: { disableClientInfo: true, enableReadyCheck: false },
    });
    cluster.on('error', ignore);
    setTimeout(() => process.stdout.write('still there\n', () => process.kill(process.pid, 'SIGKILL')), 3_000).unref();
  },
};

await FAULTS[process.argv[2]]();
