import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import * as scripts from '../../../../services/sync/relay/scripts.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { runScript } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());

export const IDLE_SECONDS = 90;
export const SETTINGS = [{ IDLE_MS: String(1_000 * IDLE_SECONDS) }] as [{ IDLE_MS: string }];

type Fields = Record<string, string | number>;

/** Makes the place of a file in the relay. Its generation is 1 unless a call says otherwise. */
export function makeFile(redis: Redis) {
  const id = randomBytes(5).toString('hex');
  const inGeneration = (generation: number) => ({
    ...{ state: keys.relayState(id, 0), bytes: keys.relayBytes(id, 0, generation) },
    before: keys.relayBytes(id, 0, Math.max(0, generation - 1)),
  });
  const on = inGeneration(1);
  const entry = { token: 'r1', channel: 'bus:r', from: 0 as number | null, keepsAlive: true, keepFrom: 0 };
  const add = (start: number, end: number, generation = 1) =>
    redis.xadd(inGeneration(generation).bytes, 'NOMKSTREAM', `${end}-0`, 'd', 'x'.repeat(end - start));
  return {
    keys: on,
    inGeneration,
    /** Makes generation 1, with further fields of its state, and chunks that end at these offsets. */
    async begun({ base = 0, ends = [], fields = {} }: { base?: number; ends?: number[]; fields?: Fields } = {}) {
      await redis.hset(on.state, { g: 1, base, end: base, taken: base, got: base, skips: 0, ...fields });
      await redis.xadd(on.bytes, `${base}-1`, 'd', '');
      await redis.xdel(on.bytes, `${base}-1`);
      let start = base;
      for (const end of ends) {
        await add(start, end);
        start = end;
      }
      if (ends.length > 0) await redis.hset(on.state, 'end', start);
    },
    fields: (fields: Fields) => redis.hset(on.state, fields),
    create: (generation: number, base: number) =>
      runScript(redis, scripts.relayCreate, SETTINGS, inGeneration(generation), { generation, base }),
    open: (side: 'w' | 'r' | '-', args: Partial<typeof entry> = {}, generation = 1) =>
      runScript(redis, scripts.relayOpen, SETTINGS, inGeneration(generation), { ...entry, side, generation, ...args }),
    leave: (side: 'w' | 'r', token: string) => runScript(redis, scripts.relayLeave, [], on, { side, token }),
    drop: () => runScript(redis, scripts.relayDrop, [], on, {}),
    evict: (generation: number) => runScript(redis, scripts.relayEvict, [], inGeneration(generation), { generation }),
    /** Adds a chunk and lets the script decide, as one transaction does. */
    async commit(start: number, end: number, { token = 'w1', urgent = false } = {}) {
      await add(start, end);
      return runScript(redis, scripts.relayCommit, SETTINGS, on, { token, start, chunkEnd: end, urgent });
    },
    waitWrite: (wanted: number, { token = 'w1', generation = 1 } = {}) =>
      runScript(redis, scripts.relayWaitWrite, SETTINGS, on, { token, generation, wanted, channel: 'bus:w' }),
    waitRead: (position: number, { token = 'r1', generation = 1, wanted = position + 1, channel = 'bus:r' } = {}) =>
      runScript(redis, scripts.relayWaitRead, SETTINGS, inGeneration(generation), {
        ...{ token, generation, position, wanted, channel },
      }),
    take: (position: number, { token = 'r1', keepFrom = 0, liveMs = 45_000 } = {}) =>
      runScript(redis, scripts.relayTake, [], on, { token, position, keepFrom, liveMs }),
    /** Returns the offsets at which the kept chunks end. */
    ends: async (generation = 1) =>
      (await redis.xrange(inGeneration(generation).bytes, '-', '+')).map(([at]) => Number.parseInt(at, 10)),
    stored: () => redis.hgetall(on.state),
    hasBytes: async (generation = 1) => (await redis.exists(inGeneration(generation).bytes)) === 1,
  };
}
