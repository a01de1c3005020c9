import type { ClaimedAccount, DueStore } from './store.ts';

const PERIOD_MS = 1_000;

/** Runs one fact of an account. It removes the fact itself, in the step that takes effect. */
export type DueHandler = (account: string, fact: string) => Promise<unknown>;

interface DueSweeperParts {
  store: DueStore;
  /** By the fact's kind: what stands before its first colon. */
  handlers: Readonly<Record<string, DueHandler>>;
  isUp: () => boolean;
  onRun: (kind: string, outcome: 'ok' | 'failed') => void;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Runs what has become due, on whatever replica claims it first. At least once: a fact stays until it has run, and a
 * claim lapses, so that a replica may die at any point.
 */
export class DueSweeper {
  readonly #parts: DueSweeperParts;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  constructor(parts: DueSweeperParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.run(), PERIOD_MS);
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** One sweep at a time. */
  run(): void {
    if (!this.#parts.isUp()) return;
    this.#running ??= this.#sweep()
      .catch((error: unknown) => this.#parts.onFailure('due sweep', error))
      .finally(() => {
        this.#running = null;
      });
  }

  async #sweep(): Promise<void> {
    const { store, onFailure } = this.#parts;
    // In a cluster a part of the index, or an account, whose primary is away must not hold up the others.
    const claim = (shard: number) =>
      store.claim(shard).catch((error: unknown) => {
        onFailure('due claim', error);
        return [];
      });
    const shards = await Promise.all(Array.from({ length: store.shards }, (_, shard) => claim(shard)));
    for (const claimed of shards.flat()) {
      await this.#runAccount(claimed).catch((error: unknown) => onFailure('due account', error));
    }
  }

  async #runAccount(claimed: ClaimedAccount): Promise<void> {
    const { store, handlers, onRun, onFailure } = this.#parts;
    const { due } = await store.facts(claimed.account);
    for (const fact of due) {
      const kind = fact.split(':', 1)[0] as string;
      try {
        // A kind of a newer version stays for a replica that knows it.
        if (await handlers[kind]?.(claimed.account, fact)) onRun(kind, 'ok');
      } catch (error) {
        onRun(kind, 'failed');
        onFailure(`due ${kind}`, error);
      }
    }
    const after = await store.facts(claimed.account);
    await store.settle(claimed, after.due.length > 0 ? 0 : after.nextInMs);
  }
}
