import { once } from 'node:events';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import {
  close,
  type Connection,
  connectCommands,
  connectSubscriber,
} from '../../../shared/service-kit/redis/connections.ts';
import { startOwnRedis } from '../../support/redis/own-redis.ts';

const KINDS = { commands: connectCommands, subscriber: connectSubscriber };

test.each(Object.entries(KINDS))(
  'a %s connection that the client library has ended for good is connected again, until it is closed',
  async (name, connect) => {
    const redis = await startOwnRedis();
    const parsed = redisAddress(redis.url);
    const address = (parsed as { value: RedisAddress }).value;
    const connection: Connection = connect({ address, name, onError: () => undefined });
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
