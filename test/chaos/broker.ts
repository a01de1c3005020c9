import { freePort } from '../../deploy/local/setup/redis.mjs';
import { spawnBroker, TOKEN } from '../broker/support/brokers.ts';
import { startOwnRedis } from '../support/redis/own-redis.ts';

export interface ChaosBroker {
  /** The settings of a replica that asks this broker. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts the reference broker on a Redis of its own. No fault is made to either: the faults are those of Baton. */
export async function startBroker(): Promise<ChaosBroker> {
  const redis = await startOwnRedis({ persistent: false });
  const broker = spawnBroker({ BROKER_REDIS_URL: redis.url, BROKER_KEY_PREFIX: 'broker' }, await freePort());
  // The broker ends however the driver ends.
  process.once('exit', () => {
    void broker.kill();
    void redis.kill();
  });
  await broker.ready();
  return {
    env: { APP_BROKER_URL: broker.url, APP_BROKER_TOKEN: TOKEN },
    async stop() {
      await broker.kill();
      await redis.stop();
    },
  };
}
