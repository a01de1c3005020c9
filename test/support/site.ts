import type { Redis } from 'ioredis';
import type { TestDevice } from './device.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from './redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from './replicas.ts';
import type { Recorder } from './stream-recorder.ts';

/** Two replicas on one store under a prefix of their own, and a plain connection to look at what they keep there. */
export interface Site {
  readonly prefix: string;
  readonly redis: Redis;
  readonly one: ReplicaProcess;
  readonly two: ReplicaProcess;
  /** A recorded stream of the device; `afterEach(site.closeStreams)` ends it. */
  listen(device: TestDevice, replica: ReplicaProcess, lastEventId?: string): Recorder;
  closeStreams(): Promise<void>;
  stop(): Promise<void>;
}

/** For `beforeAll`; its `stop` is for `afterAll`. `env` is that of both replicas. */
export async function startSite(env: Record<string, string> = {}): Promise<Site> {
  const redisUrl = sharedRedisUrl();
  const prefix = randomPrefix();
  const start = () => startReplica({ redisUrl, keyPrefix: prefix, env });
  const [one, two] = await Promise.all([start(), start()]);
  const redis = connectTo(redisUrl);
  const streams = new Set<Recorder>();
  const closeStreams = async () => {
    const open = [...streams];
    streams.clear();
    await Promise.all(open.map((stream) => stream.stop()));
  };
  return {
    prefix,
    redis,
    one,
    two,
    listen(device, replica, lastEventId) {
      const stream = device.listen(replica, lastEventId);
      streams.add(stream);
      return stream;
    },
    closeStreams,
    async stop() {
      await closeStreams();
      await stopReplicas();
      redis.disconnect();
    },
  };
}
