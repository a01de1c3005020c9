import { BatonError } from '../../../shared/contract/errors.ts';
import type { Notifier } from './wakeup/notifier.ts';
import type { FileRef } from './requests/relay-request.ts';
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
export function makeQuota({ store, notifier, memoryPercent }: QuotaParts) {
  async function keep(file: FileRef, generation: number, releasesPlace: boolean): Promise<void> {
    const evicted = await store.keep(file, generation, releasesPlace);
    await Promise.all(
      evicted.map(async (old) => notifier.notifyAll(await store.evict(old.file, old.generation), old.file)),
    );
  }

  return {
    /**
     * Reserves a place among the files that hold bytes, and checks the store's memory. Resolves to false when the file
     * had a reservation already. Throws `relay_busy`.
     */
    async reserve(file: FileRef): Promise<boolean> {
      if (!(await store.reserve(file))) return false;
      try {
        if ((await store.memoryPercent(file)) <= memoryPercent) return true;
        throw new BatonError('relay_busy', 'The relay has no memory now', { retryAfterSeconds: 10 });
      } catch (error) {
        // A place without an upload would be taken until it expires.
        await store.release(file.account, [file]).catch(() => undefined);
        throw error;
      }
    },

    /** Releases reservations whose bytes are gone or about to go. */
    release: store.release,

    /**
     * Keeps the bytes of a generation without a reservation until newer ones evict them, because its sender has to come
     * back first.
     */
    keep: (file: FileRef, generation: number): Promise<void> => keep(file, generation, false),

    /**
     * Keeps the bytes of a delivered file in the same way, and releases its reservation, because its receiver has all of
     * it.
     */
    releaseDelivered: (file: FileRef, generation: number): Promise<void> => keep(file, generation, true),
  };
}

export type Quota = ReturnType<typeof makeQuota>;
