import { absentOr, lines, oneOf, textList } from '../../../shared/service-kit/redis/scripts/script-values.ts';
import type { Given, RunScript } from '../../../shared/service-kit/redis/scripts/script.ts';

/**
 * The argument of a script that may enqueue pushes. `scheduled`: the account is in the index of due jobs, so the script
 * may enqueue. `unscheduled`: the account is not there; if it has subscriptions, the script does nothing and says so.
 * `off`: there are no pushes.
 */
export const pushSchedule = oneOf('scheduled', 'unscheduled', 'off');
export type PushSchedule = 'scheduled' | 'unscheduled' | 'off';

/** The jobs to push at once, from such a script's reply; null when it did nothing for an `unscheduled` account. */
export const pushJobs = absentOr(lines(textList));

interface PushQueueParts {
  isEnabled: boolean;
  accountOf: (key: string) => string;
  /** Writes the account into the index of due jobs. */
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  /** Pushes at once, on this replica. */
  pushNow: (account: string, job: string) => void;
  onFailure: (task: string, error: unknown) => void;
}

/** How long after a replica accepted something the index makes any replica check that its push was sent. */
const CHECK_AFTER_MS = 2_000;

/** The most accounts remembered as having subscriptions. When there are more, all are forgotten and learned again. */
const MOST_KNOWN = 50_000;

/**
 * Makes the command path of everything that may enqueue a push: the index of due jobs FIRST, then the account's script.
 *
 * The guarantee: an account is in the index before a script enqueues a push for it. If a replica dies right after the
 * script, another replica finds the push through the index. With the other order nobody would find it. The index is in
 * another slot, so one script cannot write both.
 *
 * The cost: only accounts with subscriptions pay the second trip. For an unknown account the script is sent as
 * `unscheduled` and looks for subscriptions. If there are any, it refuses once. Then the account is scheduled and the
 * script sent again, and from then on this replica schedules first. Without subscriptions it is one trip.
 */
export function makePushQueue({ isEnabled, accountOf, scheduleDue, pushNow, onFailure }: PushQueueParts) {
  const subscribed = new Set<string>();

  function remember(account: string): void {
    if (subscribed.size >= MOST_KNOWN) subscribed.clear();
    subscribed.add(account);
  }

  /**
   * Writes the account into the index. A failure is only reported, because a message must not fail when another part of the
   * store is unreachable. This replica writes the account later. If it is killed before, the push waits until the account's
   * next stream attaches and schedules it.
   */
  const schedule = (account: string): Promise<void> =>
    scheduleDue(account, CHECK_AFTER_MS).catch((error: unknown) => onFailure('schedule push', error));

  function push<R extends { jobs: string[] | null }>(account: string, reply: R): Omit<R, 'jobs'> {
    for (const job of reply.jobs ?? []) pushNow(account, job);
    return reply;
  }

  return {
    /** Wraps a script that may enqueue pushes in one call, which schedules the account first if that is needed. */
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

    /** Wraps a script that enqueues only for an account that is certain to have subscriptions. */
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
