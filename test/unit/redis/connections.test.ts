import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import {
  close,
  type Connection,
  connectCommands,
  connectSubscriber,
  connectWaiting,
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

test('a cluster that was only made keeps no process that then fails to start', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const connection = connectCommands({
    ...{ address: addressOf('redis://127.0.0.1:1,127.0.0.1:2'), name: 'commands', onError: () => undefined },
  });
  expect(timers()).toBe(before);
  close(connection);
});

/** Starts a sentinel of this Redis. `isWatched` resolves to its subscribers, once it has some or none. */
async function startSentinel(redisUrl: string) {
  const file = [`sentinel monitor main 127.0.0.1 ${new URL(redisUrl).port} 1`];
  const sentinel = await startRedisProcess({ isSentinel: true, file, readyWhen: '+monitor' });
  return {
    address: addressOf(`redis+sentinel://127.0.0.1:${sentinel.port}/main`),
    stop: sentinel.stop,
    isWatched: (is: boolean) =>
      until(
        () => sentinel.cli('client', 'list', 'type', 'pubsub'),
        (list) => list.includes('cmd=subscribe') === is,
        is ? 'a watch' : 'no watch',
      ),
  };
}

test('a connection that is closed while its socket connects leaves no watch at the sentinels', async () => {
  const redis = await startOwnRedis();
  const { address, isWatched, stop } = await startSentinel(redis.url);
  const open = () => connectSubscriber({ address, name: 'subscriber', onError: () => undefined });
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
  await stop();
  await redis.stop();
  expect(list).not.toContain('cmd=subscribe');
});

test('a connection that ends with its socket leaves no watch at the sentinels', async () => {
  const redis = await startOwnRedis();
  const { address, isWatched, stop } = await startSentinel(redis.url);
  const connection = connectWaiting({ address, name: 'waiting', onError: () => undefined }, null, 2_000);
  await connection.connect();
  await isWatched(true);
  const ended = once(connection, 'end');
  await connection.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no').catch(() => undefined);
  await ended;
  const list = await isWatched(false);
  await stop();
  await redis.stop();
  expect(list).not.toContain('cmd=subscribe');
});
