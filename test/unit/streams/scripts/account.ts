import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { presenceRead, presenceReconcile } from '../../../../services/sync/presence/scripts.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import type { Liveness } from '../../../../services/sync/replicas/liveness.ts';
import { logPage, streamAttach, streamDetach, streamOpen } from '../../../../services/sync/streams/scripts.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

export const GRACE_MS = 30_000;
/** No row is late, no replica is dead, and nobody was asked who is there. */
export const LIVENESS: Liveness = { deadChannels: '', formerChannels: '', lateMs: 0, held: ['s1'], silent: null };

const keys = makeKeys(randomPrefix());

/** A route. Its times are ms before NOW. */
export interface Route {
  channel?: string;
  device?: string;
  attachNumber?: number;
  seen?: number;
  opened?: number;
  /** Null while the route is open. */
  closed?: number | null;
}

/** Returns a route as it is stored. */
export const routeText = ({
  channel = 'bus:own',
  device = 'phone',
  attachNumber = 1,
  seen = 0,
  opened = 0,
  closed = null,
}: Route): string =>
  [channel, device, attachNumber, NOW - seen, NOW - opened, closed === null ? 0 : NOW - closed].join('\n');

/** Returns `count` routes, `<name>0` and so on. */
export const manyRoutes = (count: number, name: string, routeOf: (i: number) => Route): Record<string, Route> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, routeOf(i)]));

/** Makes an empty account, whose scripts run in the store at NOW. A stream is `s1` of `phone` unless a test says otherwise. */
export function makeAccount(redis: Redis) {
  const name = `u${randomBytes(5).toString('hex')}`;
  const on = keys.inAccount(name);
  const own = { stream: 's1', channel: 'bus:own', device: 'phone', attachNumber: 1, liveness: LIVENESS };
  const open = { ...own, position: '' };
  const attach = { ...own, knownVersion: 0 };
  const { liveness: _, ...detach } = own;
  return {
    name,
    keys: on,
    async routes(routes: Record<string, Route>) {
      for (const [id, route] of Object.entries(routes)) await redis.hset(on.routes, id, routeText(route));
    },
    /** Adds devices with a row. */
    async devices(...ids: string[]) {
      for (const id of ids) await redis.hset(on.devices, id, `Name of ${id}\n`);
    },
    /** Writes the announced presence: version and states. */
    presence: (states: Record<string, string | number>) => redis.hset(on.presence, states),
    /** Adds an entry to the log, as `append` does. */
    entry: (id: string, { prev = '', event = 'message', to = '*', data = '{}' } = {}) =>
      redis.xadd(on.log, id, 'p', prev, 'e', event, 't', to, 'd', data, 's', '0'),
    storedRoutes: () => redis.hgetall(on.routes),
    storedPresence: () => redis.hgetall(on.presence),
    readPresence: () => runScript(redis, presenceRead, [], on, {}),
    open: (args: Partial<typeof open> = {}) => runScript(redis, streamOpen, [{ GRACE_MS }], on, { ...open, ...args }),
    attach: (args: Partial<typeof attach> = {}) =>
      runScript(redis, streamAttach, [{ GRACE_MS }], on, { ...attach, ...args }),
    detach: (args: Partial<typeof detach> = {}) => runScript(redis, streamDetach, [], on, { ...detach, ...args }),
    page: (position: string, device = 'phone') => runScript(redis, logPage, [], on, { position, device }),
    reconcile: (dead: string[] = [], lateMs = 0) =>
      runScript(redis, presenceReconcile, [{ GRACE_MS }], on, { dead, lateMs }),
  };
}

/** A time before NOW at which presence was last announced, and the state of a device that was online then. */
export const BEFORE = NOW - 60_000;
export const ONLINE = `1${BEFORE}`;

/**
 * Makes an account with these routes and states. A watcher, which is a stream without a device, receives everything.
 */
export async function makeWatchedAccount(
  redis: Redis,
  routes: Record<string, Route>,
  states: Record<string, string | number> = {},
) {
  const account = makeAccount(redis);
  await account.devices('phone', 'tablet');
  await account.routes({ watch: { channel: 'bus:watch', device: '~Watcher' }, ...routes });
  await account.presence({ v: BEFORE, '~Watcher': ONLINE, ...states });
  return account;
}
