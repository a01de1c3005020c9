import { BatonError } from '../../../shared/contract/errors.ts';
import type { Notifier } from './wakeup/notifier.ts';
import type { FileId, FileRef } from './requests/relay-request.ts';
import type { RelayStore } from './store.ts';

interface QuotaParts {
  store: RelayStore;
  notifier: Notifier;
  /** With more than this share of its memory in use the store takes no new uploads. */
  memoryPercent: number;
}

/**
 * How many files of an account hold bytes in the relay (`LIMITS.relayFiles`, each with a reservation), and how many are kept after
 * that (`LIMITS.relayKeptFiles`, the newest). The lists are in the slot of the account; a reservation expires unless its request
 * renews it.
 */
export class Quota {
  readonly #parts: QuotaParts;

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  /** A reservation among the files that hold bytes, and memory in the store. False: it had one already. Throws `relay_busy`. */
  async reserve(file: FileRef): Promise<boolean> {
    const { store, memoryPercent } = this.#parts;
    const isNew = await store.reserve(file);
    if (isNew && (await store.memoryPercent(file)) > memoryPercent) {
      await this.release(file.account, [file]);
      throw new BatonError('relay_busy', 'The relay has no memory now', { retryAfterSeconds: 10 });
    }
    return isNew;
  }

  /** Gives reservations back whose bytes are gone or about to go. */
  async release(account: string, files: readonly FileRef[]): Promise<void> {
    await this.#parts.store.release(account, files);
  }

  /** The bytes of a generation are kept without a reservation, until newer ones evict them: its sender has to come back first. */
  async keep(file: FileRef, generation: number): Promise<void> {
    await this.#keep(file, generation, false);
  }

  /** The same of a file that had a reservation and needs it no more: its receiver has all of it. */
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
