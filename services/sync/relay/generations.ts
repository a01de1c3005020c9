import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { isFinal } from '../../../shared/contract/modules/transfers.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RelayedFile, Transfers } from '../transfers/transfers.ts';
import type { Notifier } from './wakeup/notifier.ts';
import type { Quota } from './quota.ts';
import type { Asked, FileRef, RelayRequest } from './requests/relay-request.ts';
import type { Entry, Extent, RelayStore } from './store.ts';

/** How often a request tries when each generation that it finds is lost or replaced already. */
const MAX_TRIES = 10;

/** The methods that the relay needs from the module that owns transfers. */
export type RelayTransfers = Pick<
  Transfers,
  'relayFile' | 'beginGeneration' | 'rewindGeneration' | 'notifySender' | 'setDelivered' | 'keep' | 'acknowledged'
>;

/** The generation that the record has now, and whether this call has changed it. */
type Recorded = Awaited<ReturnType<Transfers['beginGeneration']>>;

interface GenerationsParts {
  store: RelayStore;
  transfers: RelayTransfers;
  metrics: Metrics;
  windowBytes: number;
  notifier: Notifier;
  quota: Quota;
}

/**
 * How a request begins, and the generation that a sender names. The request changes nothing if the file is in another
 * generation.
 */
type Entrance = Entry & { generation?: number };

function checkOpen({ state, relayInUse }: RelayedFile): void {
  if (relayInUse && !isFinal(state)) return;
  throw new BatonError('invalid_transition', relayInUse ? `The transfer is ${state}` : 'The relay is not in use', {
    members: { state },
  });
}

/**
 * Which generation of a file is in force. The account's record says so, and survives; the relay's store has the bytes.
 * If that store loses bytes, they begin again as the next generation, and the sender is notified of it.
 *
 *   none --begin--> 0 --rewind (a reader asked, or bytes were lost)--> 1 --rewind--> ... --delivered--> none is needed
 */
export class Generations {
  readonly #parts: GenerationsParts;

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
  }

  /**
   * Returns the transfer's record of a file. Throws if this device is not that party of the transfer (`not_a_party`), or
   * if the transfer has ended or does not use the relay (`invalid_transition`).
   */
  async known({ asker, file }: Asked, role: 'sender' | 'receiver'): Promise<RelayedFile> {
    const known = await this.#parts.transfers.relayFile(asker, file);
    if (known.role !== role) throw new BatonError('not_a_party');
    checkOpen(known);
    return known;
  }

  /** Returns how far a file that has begun is, without taking it from another request. */
  find({ asker, file }: Asked, known: RelayedFile): Promise<Extent> {
    const request = this.#parts.notifier.newRequest({ asker, file });
    return this.enter(request, known, { side: '-', from: 0 });
  }

  /**
   * Begins a request in the generation in force. Makes that generation if there is none, or if the store has lost it.
   */
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
   * Makes the generation after `from`, which begins at `offset`; resolves to it, or to a later one that another request
   * has made. First makes the stream for the bytes, then writes the record, so that a request that reads the record
   * finds the stream and does not take it for lost.
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
    // The generation has no reservation until its sender comes back. If this fails, the keys stay until they expire.
    quota.keep(file, next).catch(() => undefined);
    return Math.max(now, next);
  }

  /** Begins a file for a receiver that has some of it already. If it has the whole file, only the record is written. */
  async beginFor(file: FileRef, { isWhole }: { isWhole: boolean }): Promise<number> {
    if (!isWhole) return this.#begin(file);
    return (await this.#parts.transfers.beginGeneration(file.account, file)).now;
  }

  /** Notifies the sender again of where to go on. */
  async notifySender(file: FileRef, generation: number, offset: number): Promise<void> {
    await this.#parts.transfers.notifySender(file.account, file, generation, offset);
  }

  /**
   * Records that the receiver has all of a file, whatever the store of the bytes loses, and releases the reservation.
   */
  async delivered(file: FileRef, generation: number, size: number): Promise<void> {
    const { transfers, quota } = this.#parts;
    await Promise.all([
      transfers.setDelivered(file.account, file, generation, size),
      quota.releaseDelivered(file, generation),
    ]);
  }

  /**
   * Returns whether a generation after the first is of no use to a reader at this offset. Either the window of its
   * sender ends before the offset, or the generation begins before the offset and has no bytes yet.
   */
  isFarBehind({ generation, end, base, taken }: Extent, offset: number): boolean {
    const { windowBytes } = this.#parts;
    return generation > 0 && (Math.min(end, taken) + windowBytes < offset || (end === base && end < offset));
  }

  /** Returns the same for the extent that the store has now. */
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

  /**
   * Removes what was made for a generation if the transfer has ended meanwhile, because the cleanup of the transfer did
   * not know of the generation.
   */
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

  /**
   * Notifies the readers that wait for a file to begin; only the account knows them. If this fails they find out some
   * seconds later.
   */
  async #notifyReaders({ account, transferId, index }: FileRef): Promise<void> {
    const { store, notifier } = this.#parts;
    const readers = await store.readers(account, transferId, index).catch(() => []);
    for (const { file, channel } of readers) notifier.notify(channel, file);
  }

  /** Records a generation. The replica that made it may have died before it recorded it and notified the sender. */
  async #recordMissing(file: FileRef, { generation: from }: RelayedFile, { generation: to, base }: Extent) {
    if (from === null || to <= from) return;
    const { transfers, metrics } = this.#parts;
    const { isNew } = await transfers.rewindGeneration(file.account, file, { from, to, offset: base });
    if (isNew) metrics.relay_rewinds_total.inc({ cause: 'found' });
  }
}
