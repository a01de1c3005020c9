import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pino from 'pino';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import { BulkStore } from '../../../services/sync/redis/bulk/bulk-store.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';

test('a replica has only so many connections for bytes in use at a time', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', () => socket.write('+OK\r\n')).on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { value: address } = redisAddress(`redis://127.0.0.1:${port}`) as { value: RedisAddress };
  const store = new BulkStore({
    ...{ address, logger: pino({ level: 'silent' }), metrics: makeMetrics({ version: 'test' }) },
  });
  const links = await Promise.all(Array.from({ length: 384 }, () => store.take('key')));
  await expect(store.take('key')).rejects.toMatchObject({ code: 'relay_busy' });
  store.giveBack(links[0] as (typeof links)[0]);
  const again = await store.take('key');
  for (const link of [again, ...links.slice(1)]) store.giveBack(link);
  store.stop();
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
});
