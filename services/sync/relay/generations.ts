import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { isFinal } from '../../../shared/contract/modules/transfers.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import type { Notifier } from './wakeup/notifier.ts';
import type { Quota } from './quota.ts';
import type { Asked, FileId, FileRef, RelayRequest } from './requests/relay-request.ts';
import type { Entry, Extent, RelayStore } from './store.ts';

/** For a request that finds one generation after the other gone. */
const MAX_TRIES = 10;

/** The generation that the record has now, and whether this has changed it. */
export interface Recorded {
  now: number;
  isNew: boolean;
}

/** What the relay needs of the module that owns transfers. */
export interface RelayTransfers {
  /** Throws `not_found`, `not_a_party`. */
  relayFile(asker: DeviceCaller, file: FileId): Promise<RelayedFile>;
  /** Records that the first generation has begun. */
  beginGeneration(account: string, file: FileId): Promise<Recorded>;
  /**
   * Records that generation `to`, which begins at `offset`, follows `from`, and notifies the sender where to go on.
   * The record has another one where it was not `from`.
   */
  rewindGeneration(
    account: string,
    file: FileId,
    change: { from: number; to: number; offset: number },
  ): Promise<Recorded>;
  /** Notifies the sender of this generation again, and where to go on; of the same offset once in half a minute. */
  notifySender(account: string, file: FileId, generation: number, offset: number): Promise<unknown>;
  /** Records that the receiver has all of a file, unless another generation has begun. */
  setDelivered(account: string, file: FileId, generation: number, size: number): Promise<unknown>;
  /** Keeps a transfer of which bytes are on their way from expiring. */
  keep(asker: DeviceCaller, file: FileId): Promise<void>;
  /** The receiver has stored a file up to here: progress of the transfer. */
  acknowledged(asker: DeviceCaller, file: FileId, bytes: number): Promise<void>;
}

interface GenerationsParts {
  store: RelayStore;
  transfers: RelayTransfers;
  metrics: Metrics;
  windowBytes: number;
  notifier: Notifier;
  quota: Quota;
}

/** How a request begins, and of which generation a sender speaks: it changes nothing where the file is in another. */
type Entrance = Entry & { generation?: number };

function checkOpen({ state, relayInUse }: RelayedFile): void {
  if (relayInUse && !isFinal(state)) return;
  throw new BatonError('invalid_transition', relayInUse ? `The transfer is ${state}` : 'The relay is not in use', {
    members: { state },
  });
}

/**
 * Which generation of a file is in force. The account's record says so, and survives; the relay's store has the bytes.
 * What that store loses begins again as the next generation, to which the sender is notified.
 *
 *   none --begin--> 0 --rewind (a reader asked, or bytes were lost)--> 1 --rewind--> ... --delivered--> none is needed
 */
export class Generations {
  readonly #parts: GenerationsParts;

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
  }

  /** What the transfer says of a file. Throws what keeps this device from that side of it. */
  async known({ asker, file }: Asked, role: 'sender' | 'receiver'): Promise<RelayedFile> {
    const known = await this.#parts.transfers.relayFile(asker, file);
    if (known.role !== role) throw new BatonError('not_a_party');
    checkOpen(known);
    return known;
  }

  /** Where a file that has begun is, without taking it from anybody. */
  find({ asker, file }: Asked, known: RelayedFile): Promise<Extent> {
    const request = this.#parts.notifier.newRequest({ asker, file });
    return this.enter(request, known, { side: '-', from: 0 });
  }

  /** Begins a request in the generation in force, which is made where there is none or the store has lost it. */
  async enter(request: RelayRequest, known: RelayedFile, { generation: wanted, ...entry }: Entrance): Promise<Extent> {
    const { store, notifier } = this.#parts;
    const { file } = request;
    let { generation } = known;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      generation ??= await this.#begin(file);
      const isElsewhere = wanted !== undefined && wanted !== generation;
      const opened = await store.open(request, generation, isElsewhere ? { ...entry, side: '-' } : entry);
      if (opened.found === 'newer') generation = opened.generation;
      else if (opened.found === 'lost') {
        const { base, size } = known;
        const isDelivered = base === size && generation === known.generation;
        if (entry.side !== 'r' && isDelivered) return { generation, end: size, kept: size, taken: size, base };
        const offset = entry.side === 'r' ? entry.from : base;
        generation = await this.rewind(file, { from: generation, offset, cause: 'lost' });
      } else {
        notifier.notify(opened.replaced, file);
        await this.#recordMissing(file, known, opened.extent);
        return opened.extent;
      }
    }
    throw new BatonError('store_unavailable');
  }

  /**
   * Makes the generation after `from`, which begins at `offset`; resolves to that, or to a later one that another request
   * has made. The stream for its bytes is made before the record says so: whoever reads the record finds it, and does
   * not take it for lost.
   */
  async rewind(
    file: FileRef,
    { from, offset, cause }: { from: number; offset: number; cause: 'asked' | 'lost' },
  ): Promise<number> {
    const { store, transfers, metrics, notifier, quota } = this.#parts;
    const next = from + 1;
    if (next > LIMITS.relayRewinds) throw new BatonError('range_not_available', 'Rewound too often');
    notifier.notifyAll(await store.create(file, next, offset), file);
    const change = { from, to: next, offset };
    const { now, isNew } = await this.#recorded(file, next, transfers.rewindGeneration(file.account, file, change));
    if (isNew) metrics.relay_rewinds_total.inc({ cause });
    // Without a reservation, until its sender comes back. Where this fails, keys stay until they expire.
    quota.keep(file, next).catch(() => undefined);
    return Math.max(now, next);
  }

  /** Begins a file for its receiver, which has some of it already. Of one that it has whole nothing is made but the record. */
  async beginFor(file: FileRef, { isWhole }: { isWhole: boolean }): Promise<number> {
    if (!isWhole) return this.#begin(file);
    return (await this.#parts.transfers.beginGeneration(file.account, file)).now;
  }

  /** Notifies the sender again of where to go on. */
  async notifySender(file: FileRef, generation: number, offset: number): Promise<void> {
    await this.#parts.transfers.notifySender(file.account, file, generation, offset);
  }

  /** The receiver has all of a file: that is remembered whatever the store of the bytes forgets, and its reservation is free. */
  async delivered(file: FileRef, generation: number, size: number): Promise<void> {
    const { transfers, quota } = this.#parts;
    await Promise.all([
      transfers.setDelivered(file.account, file, generation, size),
      quota.releaseDelivered(file, generation),
    ]);
  }

  /** Whether a generation that was made anew ends so far before this offset that its sender will not be there soon. */
  isFarBehind({ generation, end, base }: Extent, offset: number): boolean {
    return generation > 0 && (end + this.#parts.windowBytes < offset || (end === base && end < offset));
  }

  /** The same, asked of the store. */
  async isNowFarBehind(request: RelayRequest, generation: number, offset: number): Promise<boolean> {
    const opened = await this.#parts.store.open(request, generation, { side: '-', from: 0 });
    return opened.found === 'here' && this.isFarBehind(opened.extent, offset);
  }

  async #begin(file: FileRef): Promise<number> {
    const { store, transfers } = this.#parts;
    await store.create(file, 0, 0);
    const { now } = await this.#recorded(file, 0, transfers.beginGeneration(file.account, file));
    void this.#notifyReaders(file);
    return now;
  }

  /** Removes what was made for a generation when the transfer has ended meanwhile: whoever ended it did not know of it. */
  async #recorded(file: FileRef, generation: number, recording: Promise<Recorded>): Promise<Recorded> {
    const { store, notifier } = this.#parts;
    try {
      return await recording;
    } catch (error) {
      const isOver = error instanceof BatonError && error.status < 500;
      if (isOver) notifier.notifyAll(await store.drop(file, generation), file);
      throw error;
    }
  }

  /** Only the account knows who waits for a file to begin. Where this fails they find out some seconds later. */
  async #notifyReaders({ account, transferId, index }: FileRef): Promise<void> {
    const { store, notifier } = this.#parts;
    const readers = await store.readers(account, transferId, index).catch(() => []);
    for (const { file, channel } of readers) notifier.notify(channel, file);
  }

  /** Whoever made a generation may have died before it was recorded and its sender notified. */
  async #recordMissing(file: FileRef, { generation: from }: RelayedFile, { generation: to, base }: Extent) {
    if (from === null || to <= from) return;
    const { transfers, metrics } = this.#parts;
    const { isNew } = await transfers.rewindGeneration(file.account, file, { from, to, offset: base });
    if (isNew) metrics.relay_rewinds_total.inc({ cause: 'found' });
  }
}
