import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import {
  close,
  type Connection,
  connectCommands,
  connectSubscriber,
} from '../../../shared/service-kit/redis/connections.ts';
import { startOwnRedis } from '../../support/redis/own-redis.ts';
import { startRedisProcess, until } from '../../support/redis/redis-processes.ts';

const addressOf = (url: string): RedisAddress => (redisAddress(url) as { value: RedisAddress }).value;

const KINDS = { commands: connectCommands, subscriber: connectSubscriber };

test.each(Object.entries(KINDS))(
  'a %s connection that the client library has ended for good is connected again, until it is closed',
  async (name, connect) => {
    const redis = await startOwnRedis();
    const connection: Connection = connect({ address: addressOf(redis.url), name, onError: () => undefined });
    await connection.connect();
    // The library's own watch for another primary does this when it fires at the wrong moment.
    connection.disconnect(false);
    await once(connection, 'end');
    await once(connection, 'ready');
    const answer = await connection.ping();
    let revived = false;
    connection.on('connecting', () => {
      revived = true;
    });
    close(connection);
    await once(connection, 'end');
    await redis.stop();

    expect(answer).toBe('PONG');
    expect(revived).toBe(false);
  },
);

test('a connection that is closed while its socket connects leaves no watch at the sentinels', async () => {
  const redis = await startOwnRedis();
  const file = [`sentinel monitor main 127.0.0.1 ${new URL(redis.url).port} 1`];
  const sentinel = await startRedisProcess({ isSentinel: true, file, readyWhen: '+monitor' });
  const address = addressOf(`redis+sentinel://127.0.0.1:${sentinel.port}/main`);
  const open = () => connectSubscriber({ address, name: 'subscriber', onError: () => undefined });
  const isWatched = (is: boolean) =>
    until(
      () => sentinel.cli('client', 'list', 'type', 'pubsub'),
      (list) => list.includes('cmd=subscribe') === is,
      is ? 'a watch' : 'no watch',
    );
  const socketOf = ({ stream }: { stream?: Redis['stream'] }) => stream;
  for (let times = 0; times < 10; times++) {
    const connection = open();
    connection.connect().catch(() => undefined);
    while (socketOf(connection)?.connecting !== true) await nextTurn();
    close(connection);
    await once(connection, 'end');
  }
  // A watch that was left is there before that of a connection which is made later.
  const last = open();
  await last.connect();
  await isWatched(true);
  close(last);
  await once(last, 'end');
  const list = await isWatched(false);
  await sentinel.stop();
  await redis.stop();
  expect(list).not.toContain('cmd=subscribe');
});
