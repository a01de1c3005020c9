/**
 * What a script that may owe pushes is told. `noted`: the account is in the index of due things, owe what is to be owed.
 * `ask`: it is not; when it turns out that it has subscriptions do nothing, and say so. `off`: there are no pushes.
 */
export type PushMode = 'noted' | 'ask' | 'off';

/** Runs such a script; null is its word for "note the account first". `facts`: what is to be pushed at once. */
export type EnqueuePushes = <T extends { jobs: string[] }>(
  account: string,
  run: (mode: PushMode) => Promise<T | null>,
) => Promise<T>;

interface PushQueueParts {
  isEnabled: boolean;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  /** Pushes at once, on this replica. */
  pushNow: (account: string, job: string) => void;
  onFailure: (task: string, error: unknown) => void;
}

/** This replica pushes at once what it accepted; another one looks after so long whether it did. */
const CHECK_AFTER_MS = 2_000;

/** Accounts known to have subscriptions; when there are more, all are asked again. */
const MOST_KNOWN = 50_000;

/**
 * The index of due things lies in another slot and has to be written first, or a replica that dies in between loses the
 * push. Only accounts with subscriptions pay for that: a script finds out, and from then on this replica knows.
 */
export function makePushQueue({ isEnabled, scheduleDue, pushNow, onFailure }: PushQueueParts): EnqueuePushes {
  const known = new Set<string>();

  return async (account, run) => {
    const attempt = async (mode: PushMode) => {
      // A message must not fail because another part of the store is away: then this replica alone knows of the push, and
      // the next attach of a stream of the account notes it.
      if (mode === 'noted')
        await scheduleDue(account, CHECK_AFTER_MS).catch((error: unknown) => onFailure('note push', error));
      const done = await run(mode);
      for (const job of done?.jobs ?? []) pushNow(account, job);
      return done;
    };
    const done = await attempt(isEnabled ? (known.has(account) ? 'noted' : 'ask') : 'off');
    if (done !== null) return done;
    if (known.size >= MOST_KNOWN) known.clear();
    known.add(account);
    const noted = await attempt('noted');
    if (noted === null) throw new Error('a script asked for a note that it was told of');
    return noted;
  };
}
