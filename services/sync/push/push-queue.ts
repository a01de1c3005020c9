import { absentOr, lines, oneOf, textList } from '../../../shared/service-kit/redis/scripts/script-values.ts';
import type { Given, RunScript } from '../../../shared/service-kit/redis/scripts/script.ts';

/**
 * The argument of a script that may enqueue pushes. `scheduled`: the account is in the index of due things, so the script
 * may enqueue. `unscheduled`: it is not; if the account has subscriptions, the script does nothing and says so. `off`:
 * there are no pushes.
 */
export const pushSchedule = oneOf('scheduled', 'unscheduled', 'off');
export type PushSchedule = 'scheduled' | 'unscheduled' | 'off';

/** In the reply of such a script: the jobs to push at once; null when it did nothing, because it was `unscheduled`. */
export const pushJobs = absentOr(lines(textList));

interface PushQueueParts {
  isEnabled: boolean;
  accountOf: (key: string) => string;
  /** Writes the account into the index of due things. */
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  /** Pushes at once, on this replica. */
  pushNow: (account: string, job: string) => void;
  onFailure: (task: string, error: unknown) => void;
}

/** This replica pushes at once what it accepted. After so long any replica checks whether it did. */
const CHECK_AFTER_MS = 2_000;

/** Accounts known to have subscriptions. When there are more, all are forgotten and asked again. */
const MOST_KNOWN = 50_000;

/**
 * The command path of everything that may enqueue a push: the index of due things FIRST, then the account's script.
 *
 * The guarantee: whatever a script enqueues, its account is in the index before. A replica that dies right after the
 * script leaves a push that another replica finds through the index; the other order would leave one that nobody finds.
 * The index lies in another slot, so one script cannot write both.
 *
 * The cost: only accounts with subscriptions pay the second trip. An unknown account's script is sent as `unscheduled`
 * and finds out by itself. If it has subscriptions, it refuses once; then the account is scheduled and the script sent
 * again, and from then on this replica schedules first. Without subscriptions it is one trip.
 */
export function makePushQueue({ isEnabled, accountOf, scheduleDue, pushNow, onFailure }: PushQueueParts) {
  const subscribed = new Set<string>();

  function remember(account: string): void {
    if (subscribed.size >= MOST_KNOWN) subscribed.clear();
    subscribed.add(account);
  }

  /**
   * A message must not fail because another part of the store is away. Then only this replica knows of the push, until
   * the next stream of the account attaches and schedules it.
   */
  const schedule = (account: string): Promise<void> =>
    scheduleDue(account, CHECK_AFTER_MS).catch((error: unknown) => onFailure('schedule push', error));

  function push<R extends { jobs: string[] | null }>(account: string, reply: R): Omit<R, 'jobs'> {
    for (const job of reply.jobs ?? []) pushNow(account, job);
    return reply;
  }

  return {
    /** Makes a script that may enqueue pushes one call, which schedules first where that is needed. */
    enqueuing<K extends string, A extends { pushes: PushSchedule }, R extends { jobs: string[] | null }>(
      run: RunScript<K | 'push', A, R>,
    ) {
      return async (
        keys: Readonly<Record<K | 'push', string>>,
        argsWith: (pushes: PushSchedule) => Given<A>,
      ): Promise<Omit<R, 'jobs'>> => {
        const account = accountOf(keys.push);
        const send = (pushes: PushSchedule) => run(keys, argsWith(pushes));
        if (!isEnabled) return push(account, await send('off'));
        if (!subscribed.has(account)) {
          const reply = await send('unscheduled');
          if (reply.jobs !== null) return push(account, reply);
          remember(account);
        }
        await schedule(account);
        const reply = await send('scheduled');
        if (reply.jobs === null) throw new Error('a script refused to enqueue for a scheduled account');
        return push(account, reply);
      };
    },

    /** The same for a script that enqueues for an account which has subscriptions for certain. */
    enqueuingAlways<K extends string, A, R extends { jobs: string[] }>(run: RunScript<K | 'push', A, R>) {
      return async (keys: Readonly<Record<K | 'push', string>>, args: Given<A>): Promise<Omit<R, 'jobs'>> => {
        const account = accountOf(keys.push);
        remember(account);
        await schedule(account);
        return push(account, await run(keys, args));
      };
    },
  };
}

export type PushQueue = ReturnType<typeof makePushQueue>;
