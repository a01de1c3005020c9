import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pino from 'pino';
import { Confirmer } from '../../../services/sync/redis/confirmer.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';

const { jest } = import.meta;

test('a call that comes after the stop is refused, because nobody would close its connection', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = jest.fn();
  server.on('connection', (socket) => connected(socket.destroy()));
  const { port } = server.address() as AddressInfo;
  const { value: address } = redisAddress(`redis://127.0.0.1:${port}`) as { value: RedisAddress };
  const logger = pino({ level: 'silent' });
  const parts = { address, replicas: 1, nodeOf: () => null, logger, metrics: makeMetrics({ version: 'test' }) };
  const confirmer = new Confirmer(parts);
  confirmer.stop();

  expect(() => confirmer.confirm('key', 1)).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
  server.close();
  await once(server, 'close');
  expect(connected).not.toHaveBeenCalled();
});
