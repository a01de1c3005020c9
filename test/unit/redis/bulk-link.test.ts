import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type RedisAddress, redisAddress } from '../../../services/sync/config-redis.ts';
import { BulkLink } from '../../../services/sync/redis/bulk-link.ts';

/** A store that greets and then says nothing more, as one whose machine is gone. */
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
  // Longer than the silence that it bears, which is the receiver's here.
  await new Promise((resolve) => setTimeout(resolve, 4_500));
  expect(link.isOpen).toBe(true);
  link.resume();
  await expect(answer).rejects.toThrow('lost');
  expect(link.isOpen).toBe(false);
});
