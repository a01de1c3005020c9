import type { Redis } from 'ioredis';
import { makeDevice, randomUser, type TestDevice } from './device.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from './redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from './replicas.ts';
import { type Recorder, recordStream } from './stream-recorder.ts';

type DevicesOf<Names extends readonly string[]> = { [N in keyof Names]: TestDevice };

/** Replicas on one store under their own prefix, and a plain connection that shows what they keep there. */
export interface Site {
  readonly prefix: string;
  readonly redis: Redis;
  readonly one: ReplicaProcess;
  /** The other replica; the same one if a file asked for only one. */
  readonly two: ReplicaProcess;
  /** Makes devices of a new account with these names. Their rows are written in this order. */
  enrol<const Names extends readonly string[]>(...names: Names): Promise<DevicesOf<Names>>;
  /** Opens a stream of the device that records everything, even duplicates. `afterEach(site.closeStreams)` ends it. */
  listen(device: TestDevice, replica: ReplicaProcess, lastEventId?: string): Recorder;
  /** Does the same for a session of this user without a device. */
  listenAs(name: string, user: string, replica: ReplicaProcess): Recorder;
  closeStreams(): Promise<void>;
  /** Stops every replica that the file has started, including those of other sites. */
  stop(): Promise<void>;
}

/** Starts a site. For `beforeAll`; its `stop` is for `afterAll`. `env` is for both replicas; `alone` starts only one. */
export async function startSite(env: Record<string, string> = {}, { alone = false } = {}): Promise<Site> {
  const redisUrl = sharedRedisUrl();
  const prefix = randomPrefix();
  const start = () => startReplica({ redisUrl, keyPrefix: prefix, env });
  const [one, other] = await Promise.all([start(), ...(alone ? [] : [start()])]);
  const two = other ?? one;
  const redis = connectTo(redisUrl);
  const streams = new Set<Recorder>();

  const keep = (stream: Recorder): Recorder => {
    streams.add(stream);
    return stream;
  };
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
    async enrol<const Names extends readonly string[]>(...names: Names) {
      const user = randomUser();
      const devices = names.map((name) => makeDevice({ user, name }));
      for (const device of devices) await device.on(one).call('getMe');
      return devices as DevicesOf<Names>;
    },
    listen: ({ headers }, { url: baseUrl }, lastEventId) =>
      keep(
        recordStream({ baseUrl, headers, dropDuplicates: false, ...(lastEventId !== undefined && { lastEventId }) }),
      ),
    listenAs: (name, user, { url: baseUrl }) =>
      keep(recordStream({ baseUrl, headers: { 'X-Dev-User': user }, query: { name }, dropDuplicates: false })),
    closeStreams,
    async stop() {
      await closeStreams();
      await stopReplicas();
      redis.disconnect();
    },
  };
}
