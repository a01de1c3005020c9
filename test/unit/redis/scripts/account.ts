import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountNotify } from '../../../../services/sync/redis/account-notify.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import { signalSend } from '../../../../services/sync/signals/scripts.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { callOf, NOW, runScript } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());

/** A route. Its times are ms before NOW. */
interface Route {
  channel?: string;
  device?: string;
  seen?: number;
  isClosed?: boolean;
}

interface Entry {
  prev?: string;
  event?: string;
  data?: string;
  /** Null means an entry of an earlier version. */
  s?: string | null;
}

/** Makes an account in which the laptop sends signals to the phone: the shortest script that logs and announces. */
export async function makeAccount(redis: Redis) {
  const name = `u${randomBytes(5).toString('hex')}`;
  const on = keys.inAccount(name, {
    ...{ operation: keys.call(name, 'laptop'), rate: keys.rate(name, 'signal', 'laptop') },
    ...{ accountRate: keys.rate(name, 'signal', null), transfer: keys.transfer(name, 't1') },
  });
  await redis.hset(on.devices, 'laptop', 'Laptop\n', 'phone', 'Phone\n');
  const signal = {
    ...{ sender: 'laptop', target: '=phone', transferId: '', kind: 'offer', payload: '"x"', lateMs: 0 },
  };
  const prepare = (args: Partial<typeof signal> = {}) => callOf(redis, signalSend, [], on, { ...signal, ...args });
  return {
    name,
    keys: on,
    prepare,
    send: (args: Partial<typeof signal> = {}) => prepare(args)(),
    notify: () => runScript(redis, accountNotify, [], on, {}),
    /** Adds an entry to the log, as `append` does. */
    entry: (id: string, { prev = '', event = 'x', data = '', s = '0' }: Entry = {}) =>
      redis.xadd(on.log, id, 'p', prev, 'e', event, 't', '', 'd', data, ...(s === null ? [] : ['s', s])),
    route: (id: string, { channel = 'bus:a', device = 'phone', seen = 0, isClosed = false }: Route = {}) =>
      redis.hset(on.routes, id, [channel, device, 1, NOW - seen, NOW - seen, isClosed ? NOW : 0].join('\n')),
    logged: () => redis.xrange(on.log, '-', '+'),
  };
}

/** Returns an entry of the log as an object. */
export const fieldsOf = (entry: string[] = []): Record<string, string> =>
  Object.fromEntries(entry.flatMap((word, i) => (i % 2 === 0 ? [[word, entry[i + 1] ?? '']] : [])));
