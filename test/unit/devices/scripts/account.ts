import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { deviceAdd, deviceRemove, deviceRename } from '../../../../services/sync/devices/scripts.ts';
import { messageAccept } from '../../../../services/sync/messages/scripts.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { callOf, NOW } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());
const CREATED = NOW - 1_000;

/** Returns the row of a device as it is stored. */
export const rowOf = (name: string, { kind = 'desktop', created = CREATED, session = '', end = '0' } = {}): string =>
  [name, kind, created, session, end].join('\n');

/** Makes an account with a laptop and an open stream of a tablet. Its scripts run in the store at NOW. */
export async function makeAccount(redis: Redis) {
  const name = `u${randomBytes(5).toString('hex')}`;
  const on = keys.inAccount(name, {
    ...{ operation: keys.call(name, 'laptop'), rate: keys.rate(name, 'rename', null) },
    accountRate: keys.rate(name, 'message', null),
  });
  await redis.hset(on.devices, 'laptop', rowOf('Laptop'));
  await redis.hset(on.routes, 's1', ['bus:a', 'tablet', 1, NOW, NOW, 0].join('\n'));
  const added = {
    ...{ device: 'phone', wanted: 'Phone', wantedKind: 'phone', mode: 'new' as 'new' | 'lost' | 'kept' | 'minted' },
    ...{ session: '', sessionEnd: 0, pushes: 'off' as 'off' | 'scheduled' | 'unscheduled' },
  };
  const message = {
    ...{ sender: 'laptop', fromName: '', messageId: 'm1', content: '"hello"', bytes: 7, fingerprint: '' },
    ...{ rememberSeconds: 0, pushes: 'off' as const, dead: [], lateMs: 0 },
  };
  return {
    name,
    keys: on,
    add: (args: Partial<typeof added> = {}) => callOf(redis, deviceAdd, [], on, { ...added, ...args })(),
    remove: (device: string, expected = '') =>
      callOf(redis, deviceRemove, [], on, { device, expected, reason: 'removed' })(),
    prepareRename: (device: string, to: string, caller = 'laptop') =>
      callOf(redis, deviceRename, [], on, { caller, device, name: to }),
    /** Sends a message to a target, and returns the devices that it is for. */
    send: (wanted: string) => callOf(redis, messageAccept, [], on, { ...message, wanted })(),
    rows: (rows: Record<string, string>) => redis.hset(on.devices, rows),
    row: (device: string) => redis.hget(on.devices, device),
    stream: (id: string, device: string) => redis.hset(on.routes, id, ['bus:a', device, 1, NOW, NOW, 0].join('\n')),
    subscribe: (device: string) =>
      redis.hset(on.push, `r:web:${device}`, ['id', 'hash', '1', '1', '0', '0', '0', 'target'].join('\n')),
    /** Returns event, addressee and data of each entry of the log. */
    logged: async () => (await redis.xrange(on.log, '-', '+')).map(([, entry]) => [entry[3], entry[5], entry[7]]),
  };
}
