import type { ClaimedAccount, DueStore } from './store.ts';

const PERIOD_MS = 1_000;

/** Accounts that are run at once: one that waits for the auth broker must not hold up the others. */
const AT_ONCE = 32;

/** An account of which everything due waits in this replica is looked at again after so long. */
const WAITING_MS = 10_000;

/**
 * Runs one fact of an account. It removes the fact itself, in the step that takes effect. `waiting`: it was taken over by
 * somebody here who runs it when there is room.
 */
export type DueHandler = (account: string, job: string) => Promise<unknown>;

interface DueSweeperParts {
  store: DueStore;
  /** By the fact's kind: what stands before its first colon. */
  handlers: Readonly<Record<string, DueHandler>>;
  /** How often to look for accounts that the index has lost. */
  repairMs: number;
  isUp: () => boolean;
  onRun: (kind: string, outcome: 'ok' | 'failed') => void;
  onReindexed: (accounts: number) => void;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Runs what has become due, on whatever replica claims it first. At least once: a fact stays until it has run, and a
 * claim lapses, so that a replica may die at any point.
 */
export class DueSweeper {
  readonly #parts: DueSweeperParts;
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #repairTimer: NodeJS.Timeout | null = null;
  #sweeping: Promise<void> | null = null;
  #repairing: Promise<void> | null = null;
  /** The last sweep left something behind. */
  #hasMore = false;

  constructor(parts: DueSweeperParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.run(), PERIOD_MS);
    // Replicas that were started together do not look together.
    this.#repairTimer ??= setInterval(() => this.#repair(), this.#parts.repairMs * (0.75 + Math.random() / 4));
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    if (this.#repairTimer) clearInterval(this.#repairTimer);
    [this.#timer, this.#repairTimer] = [null, null];
    await Promise.all([this.#sweeping, this.#repairing]);
    await Promise.all(this.#running);
  }

  /** One sweep at a time. */
  run(): void {
    if (!this.#parts.isUp()) return;
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) => this.#parts.onFailure('due sweep', error))
      .finally(() => {
        this.#sweeping = null;
      });
  }

  /** Claims no more than there is room for, of each shard its share. */
  async #sweep(): Promise<void> {
    const { store, onFailure } = this.#parts;
    const share = Math.ceil((AT_ONCE - this.#running.size) / store.shards);
    if (share <= 0) return;
    // In a cluster a part of the index, or an account, whose primary is away must not hold up the others.
    const claim = (shard: number) =>
      store.claim(shard, share).catch((error: unknown) => {
        onFailure('due claim', error);
        return [];
      });
    const shards = await Promise.all(Array.from({ length: store.shards }, (_, shard) => claim(shard)));
    this.#hasMore = shards.some((claimed) => claimed.length === share);
    for (const claimed of shards.flat()) this.#start(claimed);
  }

  /** Puts accounts back into the index that it lost; attaching a stream does the same for its account at once. */
  #repair(): void {
    if (!this.#parts.isUp()) return;
    this.#repairing ??= this.#reindex()
      .catch((error: unknown) => this.#parts.onFailure('due repair', error))
      .finally(() => {
        this.#repairing = null;
      });
  }

  async #reindex(): Promise<void> {
    const { store, onReindexed } = this.#parts;
    for await (const accounts of store.unindexed()) {
      if (this.#repairTimer === null) return;
      await Promise.all(accounts.map((account) => store.remind(account, 0)));
      onReindexed(accounts.length);
    }
  }

  #start(claimed: ClaimedAccount): void {
    const run = this.#runAccount(claimed)
      .catch((error: unknown) => this.#parts.onFailure('due account', error))
      .finally(() => {
        this.#running.delete(run);
        // Not at the next period: what became due together would take an hour.
        if (this.#hasMore && this.#timer && this.#running.size < AT_ONCE / 2) this.run();
      });
    this.#running.add(run);
  }

  /** Each fact once. What stays due is passed over to come to what lies behind it. */
  async #runAccount(claimed: ClaimedAccount): Promise<void> {
    const { store } = this.#parts;
    const [tried, waiting, staying] = [new Set<string>(), new Set<string>(), new Set<string>()];
    for (;;) {
      const passed = staying.size;
      const { due, nextInMs } = await store.jobs(claimed.account, passed);
      for (const job of due) if (tried.has(job)) staying.add(job);
      const untried = due.filter((job) => !tried.has(job));
      if (untried.length === 0 && staying.size === passed) {
        const isLeft = staying.size > waiting.size;
        const checkInMs = isLeft ? 0 : Math.min(WAITING_MS, nextInMs ?? WAITING_MS);
        return store.settle(claimed, staying.size > 0 ? checkInMs : nextInMs);
      }
      for (const job of untried) {
        tried.add(job);
        if (!(await this.#runFact(claimed.account, job))) continue;
        waiting.add(job);
        staying.add(job);
      }
    }
  }

  /** Resolves to whether it waits. */
  async #runFact(account: string, job: string): Promise<boolean> {
    const { handlers, onRun, onFailure } = this.#parts;
    const kind = job.split(':', 1)[0] as string;
    try {
      // A kind of a newer version stays for a replica that knows it.
      const done = await handlers[kind]?.(account, job);
      if (done && done !== 'waiting') onRun(kind, 'ok');
      return done === 'waiting';
    } catch (error) {
      onRun(kind, 'failed');
      onFailure(`due ${kind}`, error);
      return false;
    }
  }
}
