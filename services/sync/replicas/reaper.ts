import type { LeaseStore } from './lease-store.ts';
import type { Replica } from './replica.ts';
import type { Reconcile } from '../presence/transitions.ts';

const BATCH = 50;

/** Its lease stood still; its reaper died; or it has neither, and left accounts behind. */
type ReapCause = 'died' | 'orphaned' | 'vanished';

interface ReaperParts {
  replica: Replica;
  leases: LeaseStore;
  /** Of the accounts that the dead one served. */
  reconcile: Reconcile;
  onReaped: (cause: ReapCause) => void;
  onTransitions: (counts: { online: number; offline: number }) => void;
  onFailure: (error: unknown) => void;
}

/**
 * Cleans up after dead replicas: for every account in a dead one's set it looks again at who is online. The claim is
 * itself a lease (it lapses when the reaper's own does), and an account leaves the set only after it was processed,
 * so that a reaper may die too.
 */
export class Reaper {
  readonly #parts: ReaperParts;
  readonly #mine = new Set<string>();
  /** Replicas without a lease that may have left accounts behind. */
  readonly #suspects = new Set<string>();
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(parts: ReaperParts) {
    this.#parts = parts;
  }

  /** Called after each beat. */
  run(): void {
    this.#running ??= this.#reap()
      .catch(this.#parts.onFailure)
      .finally(() => {
        this.#running = null;
      });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #reap(): Promise<void> {
    const { replica, leases } = this.#parts;
    for (const { id, counter } of replica.detector.dead()) {
      if (await leases.claim(id, counter, replica.id)) this.#takeOn(id, 'died');
    }
    for (const { id, reaper } of replica.detector.orphans()) {
      if (reaper === replica.id) this.#mine.add(id);
      else if (await leases.takeOver(id, reaper, replica.id)) this.#takeOn(id, 'orphaned');
    }
    for (const id of replica.detector.takeLost()) this.#suspects.add(id);
    await this.#forEach(this.#suspects, async (id) => {
      const [left] = await leases.someAccounts(id, 1);
      if (left !== undefined && (await leases.takeOver(id, '', replica.id))) this.#takeOn(id, 'vanished');
      this.#suspects.delete(id);
    });
    // The scripts must count the dead replica's routes as gone: read the table that says so first.
    if (this.#mine.size > 0) await replica.beat();
    await this.#forEach(this.#mine, async (id) => {
      const outcome = await this.#process(id);
      if (outcome === 'done') await leases.finishReaping(id);
      if (outcome !== 'later') this.#mine.delete(id);
      // The rows of streams may be back with its lease, or it has neither lease nor reaper now.
      if (outcome === 'lost') this.#suspects.add(id);
    });
  }

  #takeOn(id: string, cause: ReapCause): void {
    this.#mine.add(id);
    this.#parts.onReaped(cause);
  }

  /** In a cluster each one's accounts lie elsewhere: one whose primary is away must not hold up the others. */
  async #forEach(ids: Set<string>, act: (id: string) => Promise<void>): Promise<void> {
    for (const id of ids) await act(id).catch(this.#parts.onFailure);
  }

  /** `later`: the grace of some still runs. `lost`: the store has lost the claim, and looks would count it as alive. */
  async #process(deadId: string): Promise<'done' | 'later' | 'lost'> {
    const { leases, replica } = this.#parts;
    const waiting = new Set<string>();
    while (!this.#stopped) {
      const sample = await leases.someAccounts(deadId, BATCH);
      if (!replica.detector.isReaping(deadId)) return 'lost';
      if (sample.length === 0) return 'done';
      const fresh = sample.filter((account) => !waiting.has(account));
      if (fresh.length === 0) return 'later';
      await Promise.all(
        fresh.map(async (account) => {
          if (!(await this.#settle(deadId, account))) waiting.add(account);
        }),
      );
    }
    return 'later';
  }

  /** False leaves the account for later; in a cluster one whose primary is away must not hold up the others. */
  async #settle(deadId: string, account: string): Promise<boolean> {
    const { leases, reconcile, onTransitions, onFailure } = this.#parts;
    try {
      const { againInMs, transitions } = await reconcile(account);
      onTransitions(transitions);
      if (againInMs > 0) return false;
      await leases.dropAccount(deadId, account);
      return true;
    } catch (error) {
      onFailure(error);
      return false;
    }
  }
}
