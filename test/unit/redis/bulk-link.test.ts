import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import { BulkLink } from '../../../services/sync/redis/bulk/bulk-link.ts';

/** A store answers the handshake and then says nothing more, like one whose machine is gone. */
let server: Server;
const sockets = new Set<Socket>();
beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.once('data', () => socket.write('+OK\r\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
});

test('a store that vanished while nobody read is noticed when somebody reads again', async () => {
  const { port } = server.address() as AddressInfo;
  const { value } = redisAddress(`redis://127.0.0.1:${port}`) as { value: RedisAddress };
  const link = await BulkLink.open(value, { host: '127.0.0.1', port });
  const answer = link.command(['PING']);
  link.pause();
  // That is longer than the silence that the link allows. Here the receiver causes the silence.
  await new Promise((resolve) => setTimeout(resolve, 4_500));
  expect(link.isOpen).toBe(true);
  link.resume();
  await expect(answer).rejects.toThrow('lost');
  expect(link.isOpen).toBe(false);
});

test('memory that somebody keeps is left alone until nobody does, and then used again', async () => {
  const value = Buffer.alloc(600_000);
  for (let at = 0; at < value.length; at += 4) value.writeUInt32LE(at, at);
  const ranges = createServer((socket) => {
    socket.on('data', (asked) => {
      if (asked.includes('SETNAME')) return void socket.write('+OK\r\n');
      socket.write(`*1\r\n*2\r\n$8\r\n600000-0\r\n*2\r\n$1\r\nd\r\n$${value.length}\r\n`);
      socket.write(value);
      socket.write('\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(ranges, 'listening');
  const { port } = ranges.address() as AddressInfo;
  const { value: address } = redisAddress(`redis://127.0.0.1:${port}`) as { value: RedisAddress };
  const link = await BulkLink.open(address, { host: '127.0.0.1', port });
  const used = new Set<ArrayBufferLike>();
  for (let round = 0; round < 20; round++) {
    const pieces: Buffer[] = [];
    const sink = {
      entry: () => undefined,
      piece: (bytes: Buffer) => {
        pieces.push(bytes);
        used.add(bytes.buffer);
        return true;
      },
    };
    await link.range(['XRANGE', 'key', '-', '+'], sink, null).reply;
    expect(Buffer.concat(pieces).equals(value)).toBe(true);
    link.release();
  }
  // A round needs at least three. Without reuse there would be this many.
  expect(used.size).toBeLessThan(60);
  link.close();
  ranges.close();
});
