import type { AccountSets } from '../replicas/account-sets.ts';
import type { Sweeper } from '../streams/sweeper.ts';
import type { LocalStreams } from '../streams/local-streams.ts';
import type { Replica } from '../replicas/replica.ts';
import type { Reconcile, Transitions } from './transitions.ts';

/** Whatever the store loses is not older than this: what it had not passed on, or not yet written, when it went. */
const LOSABLE_MS = 60_000;

interface ReconcilerParts {
  reconcileAccount: Reconcile;
  accounts: AccountSets;
  streams: LocalStreams;
  replica: Replica;
  /** Of this hub, which has the looks made; there is none yet when these are made. */
  sweeper: () => Sweeper;
  onTransitions: (counts: Transitions) => void;
  onFailure: (task: string, error: unknown) => void;
}

/** Compares what was announced of accounts with what is routed, where no attach does it. */
export function makeReconciler({
  reconcileAccount,
  accounts,
  streams,
  replica,
  sweeper,
  onTransitions,
  onFailure,
}: ReconcilerParts) {
  const looking = new Set<string>();
  /** Accounts of which nothing was here any more, the latest last: since when the store knows, and as whose. */
  const left = new Map<string, { atMs: number; channel: string }>();

  /** A stream of it is here, or was until just now and the store may not know yet. */
  const isHere = (account: string): boolean => streams.find(account) !== undefined || streams.isLeaving(account);

  /**
   * Rows of ours in an account of which nothing is here outlived their streams (the tail that removed them was lost),
   * and are dropped. Resolves to the ms after which to look again, 0 when settled.
   */
  async function reconcile(account: string): Promise<number> {
    const nothingHere = !isHere(account);
    const ours = nothingHere ? [replica.channel, left.get(account)?.channel ?? ''] : [];
    try {
      const { againInMs, transitions } = await reconcileAccount(account, ours);
      onTransitions(transitions);
      return againInMs;
    } finally {
      // One that came while the store looked may have been taken for such a row.
      if (nothingHere) for (const stream of streams.find(account)?.streams ?? []) sweeper().attachSoon(stream);
    }
  }

  return {
    /** Once the grace of a stream that closed is over. Resolves to the ms after which to look again, 0 when settled. */
    async afterGrace(account: string): Promise<number> {
      const againInMs = await reconcile(account);
      if (againInMs === 0 && !isHere(account)) await accounts.drop(replica.id, account);
      return againInMs;
    },

    /** The store knows of the end of a stream of it. */
    noteEnd(account: string): void {
      left.delete(account);
      if (!isHere(account)) left.set(account, { atMs: performance.now(), channel: replica.channel });
      // Here, and not by a clock: while the store is away nothing is noted, and nothing forgotten.
      for (const [earliest, { atMs }] of left) {
        if (performance.now() - atMs <= LOSABLE_MS) break;
        left.delete(earliest);
      }
    },

    /** The store may have lost a tail: the ends of these accounts' streams, of which nothing here would remind it. */
    recentlyLeft(): void {
      for (const account of left.keys()) if (!isHere(account)) sweeper().reconcileLater(account, 0);
    },

    /** This replica was rung for the account, of which no stream is here. */
    stray(account: string): void {
      // One that is just leaving still has its grace.
      if (looking.has(account) || isHere(account)) return;
      looking.add(account);
      reconcile(account)
        .catch((error: unknown) => onFailure('stray', error))
        .finally(() => looking.delete(account));
    },
  };
}

export type Reconciler = ReturnType<typeof makeReconciler>;
