import type { AccountSets } from '../replicas/account-sets.ts';
import { Graces } from './graces.ts';
import type { Replica } from '../replicas/replica.ts';
import type { LocalStreams } from '../streams/local-streams.ts';
import type { Stream } from '../streams/stream/stream.ts';
import type { Sweeper } from '../streams/upkeep/sweeper.ts';
import type { Reconcile } from './transitions.ts';

/** A store that fails over loses nothing older than this: what it had not replicated, or not yet written to disk. */
const LOSABLE_MS = 60_000;

interface ReconcilerParts {
  reconcileAccount: Reconcile;
  accounts: Pick<AccountSets, 'drop'>;
  streams: Pick<LocalStreams, 'find' | 'isLeaving'>;
  replica: Pick<Replica, 'id' | 'channel'>;
  /** Calls `afterGrace` when it is time. A function, because the sweeper is made later. */
  sweeper: () => Pick<Sweeper, 'reconcileLater' | 'attachSoon'>;
  onFailure: (task: string, error: unknown) => void;
}

/** Reconciles accounts of which no stream is attached here: an attach reconciles by itself. */
export function makeReconciler({ reconcileAccount, accounts, streams, replica, sweeper, onFailure }: ReconcilerParts) {
  /** Orphaned accounts that are being reconciled. */
  const running = new Set<string>();
  const graces = new Graces(streams);
  /** Accounts whose last stream here has ended, the latest last: when, and on which channel it was. */
  const ended = new Map<string, { atMs: number; channel: string }>();

  /** A stream of it is here, or was until just now and the store may not know yet. */
  const isHere = (account: string): boolean => streams.find(account) !== undefined || streams.isLeaving(account);

  /**
   * Where no stream of the account is here, rows on our channels are left over: the write that removed them was lost.
   * They count as dead then, and are dropped. Resolves to the ms after which to reconcile again, 0 when settled.
   */
  async function reconcile(account: string): Promise<number> {
    const nothingHere = !isHere(account);
    const ours = nothingHere ? [replica.channel, ended.get(account)?.channel ?? ''] : [];
    try {
      return await reconcileAccount(account, ours);
    } finally {
      // The row of a stream that opened meanwhile may have been dropped as one of those.
      if (nothingHere) for (const stream of streams.find(account)?.streams ?? []) sweeper().attachSoon(stream);
    }
  }

  return {
    /** A stream of it has closed, and the store has no route of it: without another one the device is offline then. */
    graceBegins(stream: Pick<Stream, 'account' | 'device'>, inMs: number): void {
      graces.begin(stream, inMs);
      sweeper().reconcileLater(stream.account, inMs);
    },

    /** After the grace of a stream that closed. Resolves to the ms after which to reconcile again, 0 when settled. */
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
        // A grace still runs, whose is not known here, or the store did not answer.
        if (!isSettled) graces.insist(account);
      }
    },

    /** The store has taken the end of a stream of this account. */
    noteEnd(account: string): void {
      ended.delete(account);
      if (!isHere(account)) ended.set(account, { atMs: performance.now(), channel: replica.channel });
      // Not by a timer: while the store is away no end is noted, and none may be forgotten.
      for (const [earliest, { atMs }] of ended) {
        if (performance.now() - atMs <= LOSABLE_MS) break;
        ended.delete(earliest);
      }
    },

    /** The store may have lost its latest writes, the ends of streams among them: reconciles the accounts they were of. */
    recentlyLeft(): void {
      for (const account of ended.keys()) {
        if (isHere(account)) continue;
        graces.insist(account);
        sweeper().reconcileLater(account, 0);
      }
    },

    /** This replica was notified for an account of which no stream is here: it has an orphaned row of ours. */
    orphaned(account: string): void {
      // One that is just leaving still has its grace.
      if (running.has(account) || isHere(account)) return;
      running.add(account);
      reconcile(account)
        .catch((error: unknown) => onFailure('orphaned row', error))
        .finally(() => running.delete(account));
    },
  };
}

export type Reconciler = ReturnType<typeof makeReconciler>;
