import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import { wordsOf } from './world/resp.ts';
import type { StoreAdapter } from './world/store-adapter.ts';
import type { World } from './world/world.ts';

const BEGINS_MS = [0, 1_500] as const;
const FULL_MS = [5, 100] as const;

/** The troubles of one file of the relay, besides the faults of the plan. A trouble that is null does not happen. */
export interface Troubles {
  /** When the store loses all that it has of the file. */
  forgetsMs: number | null;
  /** When the store has no memory for its bytes, and for how long. */
  full: { atMs: number; forMs: number } | null;
  /** When its sender appears a second time. */
  secondSenderMs: number | null;
  /** When the receiver has got bytes on another path, and the offset up to which it then has everything. */
  aside: { atMs: number; upTo: number } | null;
  /** The offset from which the receiver reads to the end before it begins. */
  endFirst: number | null;
}

/** Draws the troubles of a file of so many bytes. */
export function drawTroubles(random: Random, size: number): Troubles {
  const atMs = (): number => random.between(...BEGINS_MS);
  const offset = (): number => Math.floor(random.between(1, size));
  const sometimes = <T>(make: () => T): T | null => (random.next() < 0.4 ? make() : null);
  return {
    forgetsMs: sometimes(atMs),
    full: sometimes(() => ({ atMs: atMs(), forMs: random.between(...FULL_MS) })),
    secondSenderMs: sometimes(atMs),
    aside: sometimes(() => ({ atMs: atMs(), upTo: offset() })),
    endFirst: sometimes(offset),
  };
}

interface RelayTroublesParts {
  world: World;
  store: StoreAdapter;
}

/** What the store does to the files of the relay, and what it has recorded about them. */
export class RelayTroubles {
  readonly #parts: RelayTroublesParts;
  readonly #full = new Set<string>();

  constructor(parts: RelayTroublesParts) {
    this.#parts = parts;
    parts.store.isFullFor = (key) => [...this.#full].some((id) => key.includes(`:relay:{${id}}:`));
  }

  /** Makes those troubles of a file happen that come from the store. */
  happen(transferId: string, { forgetsMs, full }: Troubles): void {
    if (forgetsMs !== null) void wait(forgetsMs).then(() => this.#forget(transferId));
    if (full === null) return;
    void wait(full.atMs).then(async () => {
      this.#full.add(transferId);
      await wait(full.forMs);
      this.#full.delete(transferId);
    });
  }

  /** Resolves to whether the record says that the receiver has all of the file. */
  async isDelivered(transferId: string, size: number): Promise<boolean> {
    const [key = ''] = wordsOf(await this.#ask('KEYS', `*:transfer:${transferId}`));
    const [begun = ''] = wordsOf(await this.#ask('HMGET', key, 'r0'));
    return begun.endsWith(`:${size}`);
  }

  async #forget(transferId: string): Promise<void> {
    const keys = wordsOf(await this.#ask('KEYS', `*:relay:{${transferId}}:*`)).toSorted();
    this.#parts.world.note('forgets', transferId, keys.length);
    if (keys.length > 0) await this.#aside((store) => store.harm('DEL', ...keys));
  }

  #ask(...words: string[]): Promise<Buffer> {
    return this.#aside((store) => store.ask(...words));
  }

  /** Does something to the store while nothing else happens. */
  #aside<T>(act: (store: StoreAdapter) => Promise<T>): Promise<T> {
    const { world, store } = this.#parts;
    return new Promise((resolve) => {
      world.after(1, world.driver, () => {
        world.wait(async () => resolve(await act(store)));
      });
    });
  }
}
