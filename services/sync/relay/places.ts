import { randomBytes } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { isFinal } from '../../../shared/contract/transfers.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import { payloadOf } from '../redis/bus/payloads.ts';
import { type Extent, type FileRef, type Holder, nameOf, type RelayStore } from './store.ts';

/** Of requests that find one generation after the other gone. */
const MAX_TRIES = 10;

/** What the relay needs of the room that owns transfers. */
export interface RelayTransfers {
  /** Throws `not_found`, `not_a_party`. */
  relayFile(asker: DeviceCaller, file: FileRef): Promise<RelayedFile>;
  /**
   * Makes `to` the generation of a file when it still is `from` (null: not begun), and tells the sender where to go on
   * unless it is the first. Resolves to the generation that it has then.
   */
  setGeneration(account: string, file: FileRef, from: number | null, to: number, offset: number): Promise<number>;
  /** Bytes of it are on their way: it is not over yet. */
  keep(asker: DeviceCaller, file: FileRef): Promise<void>;
  /** The receiver has stored a file up to here: progress of the transfer. */
  acknowledged(asker: DeviceCaller, file: FileRef, bytes: number): Promise<void>;
  /** The receiver has all of a file, which needs nothing of the relay from now on; in force while `generation` is. */
  setDelivered(account: string, file: FileRef, generation: number, size: number): Promise<unknown>;
}

export interface PlacesParts {
  store: RelayStore;
  transfers: RelayTransfers;
  metrics: Metrics;
  windowBytes: number;
  /** Above this much of its memory in use the store takes no new uploads. */
  memoryPercent: number;
  /** The channel of this replica, as it is now. */
  channel: () => string;
  publish: (channel: string, payload: string) => Promise<unknown>;
  /** Rings the requests of this replica for a file. */
  notified: (name: string) => void;
}

/** How a request begins. */
export interface Entry {
  side: 'w' | 'r' | '-';
  holder: Holder;
  /** Where it begins. */
  from: number;
  /** A sender's, which only looks where the file is in another. */
  generation?: number;
  /** Of a reader: what lies before this it does not ask for again. */
  keepFrom?: number;
  /** False: it takes no place, and what is there is kept no longer because of it. */
  keepsAlive?: boolean;
}

function checkOpen({ state, relayInUse }: RelayedFile): void {
  if (relayInUse && !isFinal(state)) return;
  throw new BatonError('invalid_transition', relayInUse ? `The transfer is ${state}` : 'The relay is not in use', {
    members: { state },
  });
}

/**
 * Where files are: which generation of a file is in force, and where its bytes lie. The account's record says the
 * generation, the relay's store has the bytes; whatever the latter loses begins again as the next generation.
 */
export class Places {
  readonly #parts: PlacesParts;

  constructor(parts: PlacesParts) {
    this.#parts = parts;
  }

  newHolder(): Holder {
    return { token: randomBytes(9).toString('base64url'), channel: this.#parts.channel() };
  }

  /** A look that takes nobody's place. */
  look = (): Entry => ({ side: '-', holder: this.newHolder(), from: 0 });

  /** Throws what keeps this device from that side of a relayed file. */
  async known(asker: DeviceCaller, file: FileRef, role: 'sender' | 'receiver'): Promise<RelayedFile> {
    const known = await this.#parts.transfers.relayFile(asker, file);
    if (known.role !== role) throw new BatonError('not_a_party');
    checkOpen(known);
    return known;
  }

  /** A place among the account's active files, and memory in the store; whether it had none. Throws `relay_busy`. */
  async admit(account: string, file: FileRef): Promise<boolean> {
    const { store, memoryPercent } = this.#parts;
    const isNew = await store.reserve(account, file);
    if (isNew && (await store.memoryPercent(file)) > memoryPercent) {
      await store.release(account, [file]);
      throw new BatonError('relay_busy', 'The relay has no memory now', { retryAfterSeconds: 10 });
    }
    return isNew;
  }

  /** Finds a file in the store, or makes it: for the first time, or again because the store has lost it. */
  async enter(account: string, file: FileRef, known: RelayedFile, entry: Entry): Promise<Extent> {
    const { store } = this.#parts;
    let { generation } = known;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (generation === null) {
        await store.create(file, 0, 0);
        generation = await this.#record(account, file, null, 0, 0);
        void this.#ringReaders(account, file);
      }
      const isElsewhere = entry.generation !== undefined && entry.generation !== generation;
      const opened = await store.open(file, generation, isElsewhere ? '-' : entry.side, entry.holder, entry);
      if (opened.found === 'newer') generation = opened.generation;
      else if (opened.found === 'lost') {
        const { base, size } = known;
        const isDelivered = base === size && generation === known.generation;
        if (entry.side !== 'r' && isDelivered) return { generation, end: size, kept: size, taken: size, base };
        const offset = entry.side === 'r' ? entry.from : base;
        generation = await this.rewind(account, file, generation, offset, 'lost');
      } else {
        if (opened.replaced !== '') this.notify(opened.replaced, file);
        await this.#settle(account, file, known, opened.extent);
        return opened.extent;
      }
    }
    throw new BatonError('store_unavailable');
  }

  /**
   * The next generation, from this offset; or that which another request has just made. The bytes' place first, then
   * the record: whoever reads the record finds the place, and does not take it for lost.
   */
  async rewind(account: string, file: FileRef, from: number, offset: number, cause: 'asked' | 'lost'): Promise<number> {
    const { store, metrics } = this.#parts;
    const next = from + 1;
    if (next > LIMITS.relayRewinds) throw new BatonError('range_not_available', 'Rewound too often');
    this.notifyAll(await store.create(file, next, offset), file);
    const now = await this.#record(account, file, from, next, offset);
    if (now === next) metrics.relay_rewinds_total.inc({ cause });
    // Until its sender comes back. One that is lost leaves keys until they expire.
    this.#keep(account, file, next, false).catch(() => undefined);
    return Math.max(now, next);
  }

  /** What was made for a generation goes again when it came too late: whoever ended the transfer did not know of it. */
  async #record(account: string, file: FileRef, from: number | null, to: number, offset: number): Promise<number> {
    const { store, transfers } = this.#parts;
    try {
      return await transfers.setGeneration(account, file, from, to, offset);
    } catch (error) {
      const isOver = error instanceof BatonError && error.status < 500;
      if (isOver) this.notifyAll(await store.drop(file, to), file);
      throw error;
    }
  }

  /** Those who wait for a file to begin are known to the account alone. A lost bell costs some seconds. */
  async #ringReaders(account: string, { transferId, index }: FileRef): Promise<void> {
    const readers = await this.#parts.store.readers(account, transferId, index).catch(() => []);
    for (const { file, channel } of readers) this.#tell(channel, file);
  }

  /** All of a file is with its receiver: its place is free. */
  async free(account: string, file: FileRef, generation: number): Promise<void> {
    await this.#keep(account, file, generation, true);
  }

  async #keep(account: string, file: FileRef, generation: number, givesPlace: boolean): Promise<void> {
    const told = await this.#parts.store.keep(account, file, generation, givesPlace);
    for (const { file: left, channel } of told) this.#tell(channel, left);
  }

  /** Whoever made a generation may have died before it was in the record, and its sender told. */
  async #settle(account: string, file: FileRef, { generation }: RelayedFile, { generation: now, base }: Extent) {
    if (generation === null || now <= generation) return;
    await this.#parts.transfers.setGeneration(account, file, generation, now, base);
  }

  /** Tells the sender of the generation in force again, and from where to go on; of the same place once in half a minute. */
  async tellAgain(account: string, file: FileRef, generation: number, offset: number): Promise<void> {
    await this.#parts.transfers.setGeneration(account, file, generation, generation, offset);
  }

  /** Whether what was made anew ends too far before this offset for its sender to get there soon. */
  isFarBehind({ generation, end, base }: Extent, offset: number): boolean {
    return generation > 0 && (end + this.#parts.windowBytes < offset || (end === base && end < offset));
  }

  /** The same of a generation, as it is now. */
  async isNowFarBehind(file: FileRef, generation: number, offset: number): Promise<boolean> {
    const found = await this.#parts.store.open(file, generation, '-', this.newHolder(), { from: 0 });
    return found.found === 'here' && this.isFarBehind(found.extent, offset);
  }

  notifyAll(channels: readonly string[], file: FileRef): void {
    for (const channel of channels) this.#tell(channel, file);
  }

  #tell(channel: string, file: FileRef): void {
    if (channel !== '') this.notify(channel, file);
  }

  notify = (channel: string, file: FileRef): void => {
    const { notified, publish } = this.#parts;
    if (channel === this.#parts.channel()) return notified(nameOf(file));
    // A lost bell costs a second.
    publish(channel, payloadOf('relay', nameOf(file))).catch(() => undefined);
  };
}
