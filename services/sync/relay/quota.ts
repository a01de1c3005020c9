import { BatonError } from '../../../shared/contract/errors.ts';
import type { Notifier } from './wakeup/notifier.ts';
import type { FileId, FileRef } from './requests/relay-request.ts';
import type { RelayStore } from './store.ts';

interface QuotaParts {
  store: RelayStore;
  notifier: Notifier;
  /** Share of its memory in use, in percent, above which the store takes no new uploads. */
  memoryPercent: number;
}

/**
 * Limits how many files of an account hold bytes in the relay (`LIMITS.relayFiles`, each with a reservation), and how
 * many are kept without one (`LIMITS.relayKeptFiles`, the newest). The lists are in the slot of the account; a
 * reservation expires unless its request renews it.
 */
export class Quota {
  readonly #parts: QuotaParts;

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  /**
   * Reserves a place among the files that hold bytes, and checks the store's memory. Resolves to false when the file
   * had a reservation already. Throws `relay_busy`.
   */
  async reserve(file: FileRef): Promise<boolean> {
    const { store, memoryPercent } = this.#parts;
    const isNew = await store.reserve(file);
    if (isNew && (await store.memoryPercent(file)) > memoryPercent) {
      await this.release(file.account, [file]);
      throw new BatonError('relay_busy', 'The relay has no memory now', { retryAfterSeconds: 10 });
    }
    return isNew;
  }

  /** Releases reservations whose bytes are gone or about to go. */
  async release(account: string, files: readonly FileRef[]): Promise<void> {
    await this.#parts.store.release(account, files);
  }

  /**
   * Keeps the bytes of a generation without a reservation until newer ones evict them, because its sender has to come
   * back first.
   */
  async keep(file: FileRef, generation: number): Promise<void> {
    await this.#keep(file, generation, false);
  }

  /**
   * Keeps the bytes of a delivered file in the same way, and releases its reservation, because its receiver has all of
   * it.
   */
  async releaseDelivered(file: FileRef, generation: number): Promise<void> {
    await this.#keep(file, generation, true);
  }

  async #keep(file: FileRef, generation: number, releasesPlace: boolean): Promise<void> {
    const evicted = await this.#parts.store.keep(file, generation, releasesPlace);
    await Promise.all(evicted.map((old) => this.#evict(old.file, old.generation)));
  }

  async #evict(file: FileId, generation: number): Promise<void> {
    const { store, notifier } = this.#parts;
    notifier.notifyAll(await store.evict(file, generation), file);
  }
}
