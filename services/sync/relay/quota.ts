import { BatonError } from '../../../shared/contract/errors.ts';
import type { Notifier } from './notifier.ts';
import type { Claim, FileRef, RelayRequest } from './relay-request.ts';
import type { RelayStore } from './store.ts';

interface QuotaParts {
  store: RelayStore;
  notifier: Notifier;
  /** With more than this share of its memory in use the store takes no new uploads. */
  memoryPercent: number;
}

/**
 * How much of the relay an account may use: files that hold bytes (`LIMITS.relayFiles`), files that are kept after that
 * (`LIMITS.relayKeptFiles`, the newest), and files that are read or waited for (`LIMITS.relayReads`). The lists are in the
 * slot of the account; each place expires unless its request renews it.
 */
export class Quota {
  readonly #parts: QuotaParts;

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  /** A place among the files that hold bytes, and memory in the store. False: it had one already. Throws `relay_busy`. */
  async reserve(file: FileRef): Promise<boolean> {
    const { store, memoryPercent } = this.#parts;
    const isNew = await store.reserve(file);
    if (isNew && (await store.memoryPercent(file)) > memoryPercent) {
      await this.release(file.account, [file]);
      throw new BatonError('relay_busy', 'The relay has no memory now', { retryAfterSeconds: 10 });
    }
    return isNew;
  }

  /** Keeps the place of an upload that goes on. */
  async renew(file: FileRef): Promise<void> {
    await this.#parts.store.reserve(file);
  }

  /** Gives places back whose bytes are gone or about to go. */
  async release(account: string, files: readonly FileRef[]): Promise<void> {
    await this.#parts.store.release(account, files);
  }

  /** The bytes of a generation are kept without a place, until newer ones evict them: its sender has to come back first. */
  async keep(file: FileRef, generation: number): Promise<void> {
    await this.#keep(file, generation, false);
  }

  /** The same of a file that had a place and needs it no more: its receiver has all of it. */
  async releaseDelivered(file: FileRef, generation: number): Promise<void> {
    await this.#keep(file, generation, true);
  }

  /**
   * A place among the files that are read, for a request that begins or, with `begins` false, goes on. Resolves to the
   * channel of the request that it replaces, or ''; null: another one reads this file now. Throws `relay_busy`.
   */
  reserveRead(request: RelayRequest, begins: boolean): Promise<string | null> {
    return this.#parts.store.read(request, begins);
  }

  async releaseRead(request: RelayRequest): Promise<void> {
    await this.#parts.store.unread(request);
  }

  async #keep(file: FileRef, generation: number, releasesPlace: boolean): Promise<void> {
    const evicted = await this.#parts.store.keep(file, generation, releasesPlace);
    await Promise.all(evicted.map((old) => this.#evict(old.file, old.generation)));
  }

  async #evict(file: Claim['file'], generation: number): Promise<void> {
    const { store, notifier } = this.#parts;
    notifier.notifyAll(await store.evict(file, generation), file);
  }
}
