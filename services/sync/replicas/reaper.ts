import type { Reconcile } from '../presence/transitions.ts';
import type { AccountSets } from './account-sets.ts';
import type { LeaseStore } from './lease-store.ts';
import type { Replica } from './replica.ts';

/** Accounts that are reconciled at once. */
const BATCH = 50;

/** Why a replica is reaped: its lease stood still, its reaper died, or it has neither and left accounts behind. */
type ReapCause = 'died' | 'orphaned' | 'vanished';

interface ReaperParts {
  replica: Pick<Replica, 'id' | 'beat' | 'detector'>;
  leases: LeaseStore;
  accounts: AccountSets;
  reconcile: Reconcile;
  /** Makes the others compare what they know of an account; null if a dead replica leaves nothing unannounced. */
  compare: ((account: string) => Promise<unknown>) | null;
  onReaped: (cause: ReapCause) => void;
  onFailure: (error: unknown) => void;
}

/**
 * Cleans up after dead replicas: it claims one, reconciles the presence of every account in its set, and ends the claim.
 * The claim lapses with the reaper's own lease, and an account leaves the set only after it was reconciled, so another
 * replica goes on from where a reaper died.
 */
export class Reaper {
  readonly #parts: ReaperParts;
  /** Replicas that this one has claimed. */
  readonly #claimed = new Set<string>();
  /** Replicas without a lease that may have left accounts behind. */
  readonly #suspects = new Set<string>();
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(parts: ReaperParts) {
    this.#parts = parts;
  }

  /** Starts a run, unless one is under way. Called after each beat. */
  run(): void {
    this.#running ??= this.#reap()
      .catch(this.#parts.onFailure)
      .finally(() => {
        this.#running = null;
      });
  }

  /** Stops; resolves when the accounts under way are reconciled. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #reap(): Promise<void> {
    const { replica, leases, accounts } = this.#parts;
    await this.#claim();
    // A beat reads the table with the claim first, because scripts must count the routes of the dead replica as gone.
    if (this.#claimed.size > 0) await replica.beat();
    await this.#forEach(this.#claimed, async (id) => {
      const outcome = await this.#reconcileAll(id);
      if (outcome === 'done') {
        await leases.finishReaping(id);
        await accounts.forget(id);
      }
      if (outcome !== 'later') this.#claimed.delete(id);
      // The lease may be back, or the replica now has neither lease nor reaper.
      if (outcome === 'unclaimed') this.#suspects.add(id);
    });
  }

  async #claim(): Promise<void> {
    const { replica, leases, accounts } = this.#parts;
    for (const { id, counter } of replica.detector.dead()) {
      if (await leases.claim(id, counter, replica.id)) this.#takeOn(id, 'died');
    }
    for (const { id, reaper } of replica.detector.orphans()) {
      if (reaper === replica.id) this.#claimed.add(id);
      else if (await leases.takeOver(id, reaper, replica.id)) this.#takeOn(id, 'orphaned');
    }
    for (const id of replica.detector.takeLost()) this.#suspects.add(id);
    await this.#forEach(this.#suspects, async (id) => {
      const [left] = await accounts.some(id, 1);
      if (left !== undefined && (await leases.takeOver(id, '', replica.id))) this.#takeOn(id, 'vanished');
      this.#suspects.delete(id);
    });
  }

  #takeOn(id: string, cause: ReapCause): void {
    this.#claimed.add(id);
    this.#parts.onReaped(cause);
  }

  /**
   * Acts on each id. In a cluster each set is in a slot of its own, and one whose primary is away must not hold up the
   * others.
   */
  async #forEach(ids: Set<string>, act: (id: string) => Promise<void>): Promise<void> {
    for (const id of ids) await act(id).catch(this.#parts.onFailure);
  }

  /**
   * Reconciles all accounts of a dead replica. `later`: a grace still runs, or a store is away. `unclaimed`: the store
   * lost the claim, and scripts count the replica as alive.
   */
  async #reconcileAll(deadId: string): Promise<'done' | 'later' | 'unclaimed'> {
    const { accounts, replica } = this.#parts;
    const waiting = new Set<string>();
    while (!this.#isStopped) {
      const sample = await accounts.some(deadId, BATCH);
      if (!replica.detector.isReaping(deadId)) return 'unclaimed';
      if (sample.length === 0) return 'done';
      const fresh = sample.filter((account) => !waiting.has(account));
      if (fresh.length === 0) return 'later';
      await Promise.all(
        fresh.map(async (account) => {
          if (!(await this.#reconcile(deadId, account))) waiting.add(account);
        }),
      );
    }
    return 'later';
  }

  /**
   * Reconciles an account; resolves to false to leave it for later. In a cluster an account whose primary is away must
   * not hold up the others.
   */
  async #reconcile(deadId: string, account: string): Promise<boolean> {
    const { accounts, reconcile, compare, onFailure } = this.#parts;
    try {
      if ((await reconcile(account)) > 0) return false;
      // In a cluster the dead replica may have changed the account and not announced that. `reconcile` then finds no
      // difference.
      await compare?.(account);
      await accounts.drop(deadId, account);
      return true;
    } catch (error) {
      onFailure(error);
      return false;
    }
  }
}
