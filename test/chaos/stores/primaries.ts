import { type RedisProcess, until } from '../../support/redis-processes.ts';
import { fakeTimeEnv, findFakeTime } from './fake-time.ts';
import type { Harm } from './store.ts';

/** What a primary had accepted this long before its death, and no replica had yet, may be lost. */
export const LAG_MS = 2_000;

/** Every write is on disk before it is answered: what a server brings back after a kill is all that it had. */
export const DURABLE = { appendonly: 'yes', appendfsync: 'always', 'auto-aof-rewrite-percentage': 0 };

/** A paused server that wakes up answers what it finds waiting before it learns that it was replaced. */
const WAKES_MS = 2_000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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

/** One primary and how to tell what became of it. */
export interface Primary {
  server: RedisProcess;
  /** Whose keys it holds; everybody's when it is not said. */
  accounts?: readonly string[] | undefined;
  /** Resolves when another server has taken its place. */
  replaced: () => Promise<unknown>;
  /** Resolves, once it is up again, to whether it is what it was, with its followers. */
  returned: () => Promise<boolean>;
}

type Harms = Record<string, Harm>;

/** Harms by which another server, and so another clock, may come to the fore. */
export const mayReplacePrimary = (kind: string): boolean =>
  kind.startsWith('primary-') || kind === 'failover' || kind === 'slot-move';

/**
 * What can be done to a primary whose replicas may take over. `choose`: which one. `others`: further harms.
 */
export function harmsOfPrimaries(choose: (variant: number) => Promise<Primary>, others: Harms): Harms {
  const fakeTime = findFakeTime();
  let clocksDiffer = false;

  /** Loses it, by `lose`, for good, and gets it back as a replica by `regain`. */
  const replacing =
    (lose: (server: RedisProcess) => Promise<void>, regain: (server: RedisProcess) => Promise<void>): Harm =>
    async ({ holdMs, variant, now }) => {
      const { server, replaced, accounts } = await choose(variant);
      const since = now() - LAG_MS;
      await lose(server);
      await replaced();
      await wait(holdMs);
      await regain(server);
      await untilFollowing(server);
      return { target: `primary ${server.port}`, accounts, loss: { since, times: 1 }, movedClock: false };
    };

  /** Kills it and brings it back before anybody can take its place; on a busy machine somebody does all the same. */
  const restarting =
    ({ forget = false, offsetOf = (_variant: number) => 0 }): Harm =>
    async ({ holdMs, variant, now }) => {
      const { server, returned, accounts } = await choose(variant);
      const since = now() - LAG_MS;
      const offset = offsetOf(variant);
      await server.kill();
      if (forget) server.forget();
      await wait(holdMs);
      await server.start(fakeTimeEnv(fakeTime, offset));
      const wasReplaced = !(await returned());
      clocksDiffer ||= offset !== 0;
      const clock = offset === 0 ? '' : `, clock ${offset} s`;
      return {
        target: `primary ${server.port}${clock}${wasReplaced ? ', which was replaced' : ''}`,
        accounts,
        loss: forget ? { since: null, times: wasReplaced ? 2 : 1 } : wasReplaced ? { since, times: 1 } : null,
        movedClock: false,
      };
    };

  const harms: Harms = {
    ...others,
    'primary-kill': replacing(
      (server) => server.kill(),
      (server) => server.start(),
    ),
    'primary-pause': replacing(
      async (server) => server.pause(),
      async (server) => {
        server.resume();
        await wait(WAKES_MS);
      },
    ),
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
