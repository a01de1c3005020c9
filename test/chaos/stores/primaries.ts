import { type RedisProcess, until } from '../../support/redis/redis-processes.ts';
import { fakeTimeEnv, findFakeTime } from './fake-time.ts';
import type { Harm } from './store.ts';
import { wait } from '../wait.ts';

/** Writes that a primary accepted within this time before its death may be lost, if no replica had them yet. */
export const LAG_MS = 2_000;

/**
 * Every write is on disk before it is answered, so a server that comes back after a kill has everything that it had.
 */
export const DURABLE = { appendonly: 'yes', appendfsync: 'always', 'auto-aof-rewrite-percentage': 0 };

/** A paused server that wakes up answers the waiting requests before it learns that it was replaced. */
const WAKES_MS = 2_000;

/** Waits until a server that came back follows its successor with all data. */
export const untilFollowing = (server: RedisProcess) =>
  until(
    () => server.cli('info', 'replication'),
    (text) => text.includes('master_link_status:up'),
    `the server on ${server.port} to follow its successor`,
  );

/** Kinds that this machine cannot do, with the reason. */
export const skippedOfPrimaries = (): Record<string, string> =>
  findFakeTime() === null ? { 'primary-clock': 'needs libfaketime' } : {};

/** One primary, and how to tell what became of it. */
export interface Primary {
  server: RedisProcess;
  /** The accounts with keys on it; undefined: all. */
  accounts?: readonly string[] | undefined;
  /** The replicas' leases lie on it too. */
  holdsLeases: boolean;
  /** Resolves when another server has taken its place. */
  replaced: () => Promise<unknown>;
  /** Resolves, once it is up again, to whether it is still the primary, with its followers. */
  returned: () => Promise<boolean>;
}

type Harms = Record<string, Harm>;

/**
 * Tells whether a client had a script run there since its start. A replica that was told of the old primary just
 * before, and then stood still, may find it a primary once more until Sentinel has made it follow. Refused scripts do
 * not count.
 */
const wasUsed = async (server: RedisProcess): Promise<boolean> =>
  /cmdstat_eval\w*:calls=[1-9]/.test(await server.cli('info', 'commandstats'));

/** Tells whether another server, and so another clock, may take over by this harm. */
export const mayReplacePrimary = (kind: string): boolean =>
  kind.startsWith('primary-') || kind === 'failover' || kind === 'slot-move';

/**
 * Returns what can be done to a primary whose replicas may take over. `choose` picks the primary. `others` are further
 * harms.
 */
export function harmsOfPrimaries(choose: (variant: number) => Promise<Primary>, others: Harms): Harms {
  const fakeTime = findFakeTime();
  let clocksDiffer = false;

  interface Replacing {
    lose: (server: RedisProcess) => Promise<void>;
    regain: (server: RedisProcess) => Promise<void>;
    /** It accepts nothing between the two, so its successor has everything that was sent after the loss. */
    isDead: boolean;
  }

  /** Makes the primary lose its role for good by `lose`, and brings it back as a replica by `regain`. */
  const replacing =
    ({ lose, regain, isDead }: Replacing): Harm =>
    async ({ holdMs, variant, now }) => {
      const { server, replaced, accounts, holdsLeases } = await choose(variant);
      const since = now() - LAG_MS;
      await lose(server);
      const lostAt = now();
      await replaced();
      const servedFrom = now();
      await wait(holdMs);
      await regain(server);
      await untilFollowing(server);
      const isUsed = isDead && (await wasUsed(server));
      const target = `primary ${server.port}${isUsed ? ', which was used again' : ''}`;
      const loss = { since, until: isDead && !isUsed ? lostAt : undefined, times: 1 };
      return { target, accounts, holdsLeases, servedFrom, loss, movedClock: false };
    };

  /**
   * Kills it and brings it back before anybody can take its place. On a busy machine another server may still take it.
   */
  const restarting =
    ({ forget = false, offsetOf = (_variant: number) => 0 }): Harm =>
    async ({ holdMs, variant, now }) => {
      const { server, returned, accounts, holdsLeases } = await choose(variant);
      const since = now() - LAG_MS;
      const offset = offsetOf(variant);
      await server.kill();
      const deadAt = now();
      if (forget) server.forget();
      await wait(holdMs);
      await server.start(fakeTimeEnv(fakeTime, offset));
      const wasReplaced = !(await returned());
      clocksDiffer ||= offset !== 0;
      const clock = offset === 0 ? '' : `, clock ${offset} s`;
      const harmed = { accounts, holdsLeases, movedClock: false };
      const target = `primary ${server.port}${clock}`;
      if (!wasReplaced) return { target, ...harmed, loss: forget ? { since: null, until: deadAt, times: 1 } : null };
      // Once it was back, it had accepted more until then.
      const loss = forget ? { since: null, times: 2 } : { since, times: 1 };
      return { target: `${target}, which was replaced`, ...harmed, loss };
    };

  const harms: Harms = {
    ...others,
    'primary-kill': replacing({ lose: (server) => server.kill(), regain: (server) => server.start(), isDead: true }),
    'primary-pause': replacing({
      lose: async (server) => server.pause(),
      async regain(server) {
        server.resume();
        await wait(WAKES_MS);
      },
      isDead: false,
    }),
    'primary-restart': restarting({}),
    'primary-wipe': restarting({ forget: true }),
    ...(fakeTime !== null && {
      'primary-clock': restarting({ offsetOf: (variant) => Math.round((variant - 0.5) * 240) }),
    }),
  };
  const noteClock =
    (harm: Harm): Harm =>
    async (options) => {
      const damage = await harm(options);
      return { ...damage, movedClock: damage.movedClock || clocksDiffer };
    };
  return Object.fromEntries(
    Object.entries(harms).map(([name, harm]) => [name, mayReplacePrimary(name) ? noteClock(harm) : harm]),
  );
}
