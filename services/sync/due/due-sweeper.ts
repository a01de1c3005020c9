import type { ClaimedAccount, DueStore } from './store.ts';

const PERIOD_MS = 1_000;

/** Accounts that are run at once, so that one that waits for the auth broker does not hold up the others. */
const AT_ONCE = 32;

/** How long until an account is checked again when all its due jobs wait in this replica. */
const WAITING_MS = 10_000;

/**
 * Runs one job of an account. It removes the job itself, in the step that takes effect. Resolves to `waiting` when
 * another part of this replica took the job over and runs it when it can.
 */
export type DueHandler = (account: string, job: string) => Promise<unknown>;

interface DueSweeperParts {
  store: DueStore;
  /** Handlers by the kind of job, which is the text before its first colon. */
  handlers: Readonly<Record<string, DueHandler>>;
  /** How often to search for accounts that the index has lost. */
  repairMs: number;
  isUp: () => boolean;
  onRun: (kind: string, outcome: 'ok' | 'failed') => void;
  onReindexed: (accounts: number) => void;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Runs the jobs that have become due, on the replica that claims their account first. Each runs at least once: a job
 * stays until it has run, and a claim lapses, so a replica may die at any point.
 */
export class DueSweeper {
  readonly #parts: DueSweeperParts;
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #repairTimer: NodeJS.Timeout | null = null;
  #sweeping: Promise<void> | null = null;
  #repairing: Promise<void> | null = null;
  /** Whether the last sweep left accounts behind. */
  #hasMore = false;

  constructor(parts: DueSweeperParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.run(), PERIOD_MS);
    // The jitter keeps replicas that started together from searching together.
    this.#repairTimer ??= setInterval(() => this.#repair(), this.#parts.repairMs * (0.75 + Math.random() / 4));
  }

  /** Stops; resolves when everything under way has ended. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    if (this.#repairTimer) clearInterval(this.#repairTimer);
    [this.#timer, this.#repairTimer] = [null, null];
    await Promise.all([this.#sweeping, this.#repairing]);
    await Promise.all(this.#running);
  }

  /** Starts a sweep, unless one is under way. */
  run(): void {
    if (!this.#parts.isUp()) return;
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) => this.#parts.onFailure('due sweep', error))
      .finally(() => {
        this.#sweeping = null;
      });
  }

  /** Claims accounts, no more than can run at once, with an equal share for each shard. */
  async #sweep(): Promise<void> {
    const { store, onFailure } = this.#parts;
    const share = Math.ceil((AT_ONCE - this.#running.size) / store.shards);
    if (share <= 0) return;
    // In a cluster a shard whose primary is away must not hold up the others.
    const claim = (shard: number) =>
      store.claim(shard, share).catch((error: unknown) => {
        onFailure('due claim', error);
        return [];
      });
    const shards = await Promise.all(Array.from({ length: store.shards }, (_, shard) => claim(shard)));
    this.#hasMore = shards.some((claimed) => claimed.length === share);
    for (const claimed of shards.flat()) this.#start(claimed);
  }

  /** Puts accounts back that the index has lost. Attaching a stream does the same for its account at once. */
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
        // The next sweep starts at once and not at the next period, because many accounts that become due together
        // would otherwise take an hour.
        if (this.#hasMore && this.#timer && this.#running.size < AT_ONCE / 2) this.run();
      });
    this.#running.add(run);
  }

  /** Runs each due job of an account once. Skips jobs that stay due, to reach the jobs behind them. */
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
        if (!(await this.#runJob(claimed.account, job))) continue;
        waiting.add(job);
        staying.add(job);
      }
    }
  }

  /** Runs a job; resolves to whether it waits. */
  async #runJob(account: string, job: string): Promise<boolean> {
    const { handlers, onRun, onFailure } = this.#parts;
    const kind = job.split(':', 1)[0] as string;
    try {
      // A job of a kind that only a newer version knows stays for a replica of that version.
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
