import type { AccountSets } from '../replicas/account-sets.ts';
import { Graces } from './graces.ts';
import type { Replica } from '../replicas/replica.ts';
import type { LocalStreams } from '../streams/local-streams.ts';
import type { Stream } from '../streams/stream/stream.ts';
import type { Sweeper } from '../streams/upkeep/sweeper.ts';
import type { Reconcile } from './transitions.ts';

/**
 * Age of the oldest write that a failover of the store loses, because it was not replicated or not yet written to disk.
 */
const LOSABLE_MS = 60_000;

interface ReconcilerParts {
  reconcileAccount: Reconcile;
  accounts: Pick<AccountSets, 'drop'>;
  streams: Pick<LocalStreams, 'find' | 'isLeaving'>;
  replica: Pick<Replica, 'id' | 'channel'>;
  /** Returns the sweeper, which calls `afterGrace` when it is time. A function, because the sweeper is made later. */
  sweeper: () => Pick<Sweeper, 'reconcileLater' | 'attachSoon'>;
  onFailure: (task: string, error: unknown) => void;
}

/** Makes the reconciler of accounts of which no stream is attached here, because an attach reconciles by itself. */
export function makeReconciler({ reconcileAccount, accounts, streams, replica, sweeper, onFailure }: ReconcilerParts) {
  /** Orphaned accounts that are being reconciled. */
  const running = new Set<string>();
  const graces = new Graces(streams);
  /**
   * Accounts whose last stream here has ended, the latest last, with the time of the end and the channel of the stream.
   */
  const ended = new Map<string, { atMs: number; channel: string }>();

  /**
   * Returns whether a stream of the account is here, or was until just now so that the store may not know of its end
   * yet.
   */
  const isHere = (account: string): boolean => streams.find(account) !== undefined || streams.isLeaving(account);

  /**
   * Reconciles an account. If no stream of the account is here, rows on this replica's channels are left over, because
   * the write that removed them was lost. They then count as dead, and are dropped. Resolves to the ms after which to
   * reconcile again, 0 when settled.
   */
  async function reconcile(account: string): Promise<number> {
    const nothingHere = !isHere(account);
    const ours = nothingHere ? [replica.channel, ended.get(account)?.channel ?? ''] : [];
    try {
      return await reconcileAccount(account, ours);
    } finally {
      // The row of a stream that opened meanwhile may have been dropped with the rows that were left over.
      if (nothingHere) for (const stream of streams.find(account)?.streams ?? []) sweeper().attachSoon(stream);
    }
  }

  return {
    /**
     * Begins the grace of a device whose stream has closed and has no route in the store. Without another stream the
     * device is offline afterwards.
     */
    graceBegins(stream: Pick<Stream, 'account' | 'device'>, inMs: number): void {
      graces.begin(stream, inMs);
      sweeper().reconcileLater(stream.account, inMs);
    },

    /**
     * Reconciles an account after the grace of a closed stream. Resolves to the ms after which to reconcile again, 0
     * when settled.
     */
    async afterGrace(account: string): Promise<number> {
      const leftMs = graces.leftMs(account);
      if (leftMs !== null) return leftMs;
      let isSettled = false;
      try {
        const againInMs = await reconcile(account);
        if (againInMs === 0 && !isHere(account)) await accounts.drop(replica.id, account);
        isSettled = againInMs === 0;
        return againInMs;
      } finally {
        // A grace of an unknown device still runs, or the store did not answer.
        if (!isSettled) graces.insist(account);
      }
    },

    /** Notes that the store has taken the end of a stream of this account. */
    noteEnd(account: string): void {
      ended.delete(account);
      if (!isHere(account)) ended.set(account, { atMs: performance.now(), channel: replica.channel });
      // This does not use a timer, because while the store is away no end is noted and none may be forgotten.
      for (const [earliest, { atMs }] of ended) {
        if (performance.now() - atMs <= LOSABLE_MS) break;
        ended.delete(earliest);
      }
    },

    /** Reconciles the accounts whose streams ended recently, because the store may have lost those writes. */
    recentlyLeft(): void {
      for (const account of ended.keys()) {
        if (isHere(account)) continue;
        graces.insist(account);
        sweeper().reconcileLater(account, 0);
      }
    },

    /**
     * Reconciles an account for which this replica was notified without having a stream of it: the account has an
     * orphaned row of this replica.
     */
    orphaned(account: string): void {
      // An account whose stream is just leaving still has a grace.
      if (running.has(account) || isHere(account)) return;
      running.add(account);
      reconcile(account)
        .catch((error: unknown) => onFailure('orphaned row', error))
        .finally(() => running.delete(account));
    },
  };
}

export type Reconciler = ReturnType<typeof makeReconciler>;
