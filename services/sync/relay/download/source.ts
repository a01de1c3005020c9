import { LIMITS } from '../../../../shared/contract/limits.ts';
import type { RelayedFile } from '../../transfers/transfers.ts';
import type { Generations } from '../generations.ts';
import type { ByteRange } from '../requests/headers.ts';
import type { Notifier } from '../wakeup/notifier.ts';
import type { RelayRequest } from '../requests/relay-request.ts';
import type { Extent, RelayStore } from '../store.ts';

/** Bytes that notify a waiting reader, even when its sender goes on. */
const WORTH_BYTES = 1024 * 1024;

/** The receiver went away, or another request reads its file now. Nobody is left who could be told. */
export class ReceiverGone extends Error {}

/** The state in which a download begins. */
interface Start {
  /** Whether its sender has to come back first. */
  awaitsSender: boolean;
  /** Whether there is something to read already. */
  hasBytes: boolean;
}

/** The state behind a position: bytes, nothing yet, or another generation to go on in. */
type Found = 'bytes' | 'nothing' | 'moved';

interface SourceParts {
  request: RelayRequest;
  /** The record of the file when the request came. */
  known: RelayedFile;
  range: ByteRange;
  /** Returns whether the receiver has gone. */
  isGone: () => boolean;
  store: RelayStore;
  generations: Generations;
  notifier: Notifier;
  windowBytes: number;
}

/** The generation that one download reads. It changes when bytes are lost or asked for again. */
export class Source {
  readonly #parts: SourceParts;
  #known: RelayedFile;
  #generation = 0;
  #isNew = true;
  #hasSenderBegun = false;

  constructor(parts: SourceParts) {
    this.#parts = parts;
    this.#known = parts.known;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Whether a sender has begun, so that it can be notified. */
  get hasSenderBegun(): boolean {
    return this.#hasSenderBegun;
  }

  /**
   * Begins to read; resolves to null as long as the upload has not begun. Throws the error that keeps the request from
   * reading.
   */
  async enter(): Promise<Start | null> {
    const { request, store, notifier } = this.#parts;
    const replaced = await store.read(request, this.#isNew);
    if (replaced === null) throw new ReceiverGone();
    notifier.notify(replaced, request.file);
    // The request is registered before the record is read, so that a sender that begins later finds it among those to
    // notify.
    if (!this.#isNew || this.#known.generation === null) await this.#readRecord();
    this.#isNew = false;
    return this.#known.generation === null ? null : this.#enterGeneration(this.#known);
  }

  /** Renews the request's reservation as a reader. */
  async renew(): Promise<void> {
    await this.#parts.store.read(this.#parts.request, false);
  }

  /**
   * Asks the store what is behind the position, and moves to a newer generation if there is one. Throws `ReceiverGone`
   * when replaced.
   */
  async find(position: number): Promise<Found> {
    const found = await this.#ask(position);
    if (found.word === 'replaced') throw new ReceiverGone();
    this.#hasSenderBegun = found.hasBegun;
    if (found.word === 'go') return 'bytes';
    if (found.word === 'wait') return 'nothing';
    if (found.word === 'newer') this.#generation = found.generation;
    else await this.rewind(position);
    // The sender may have come first, and have begun at another offset.
    const { request, generations } = this.#parts;
    if (await generations.isNowFarBehind(request, this.#generation, position)) await this.rewind(position);
    return 'moved';
  }

  async isReplaced(position: number): Promise<boolean> {
    return (await this.#ask(position)).word === 'replaced';
  }

  /** Asks the sender for all bytes from this position, in another generation. */
  async rewind(position: number): Promise<void> {
    await this.#readRecord();
    const from = this.#generation;
    const rewind = { from, offset: position, cause: 'lost' } as const;
    this.#generation = await this.#parts.generations.rewind(this.#parts.request.file, rewind);
  }

  /** Notifies the sender of where to go on. A lost notification is followed by another. */
  notifySender(position: number): void {
    const { generations, request } = this.#parts;
    generations.notifySender(request.file, this.#generation, position).catch(() => undefined);
  }

  async #readRecord(): Promise<RelayedFile> {
    const { generations, request } = this.#parts;
    this.#known = await generations.known(request, 'receiver');
    return this.#known;
  }

  /** Begins to read, and asks the sender again for bytes that are no longer kept. */
  async #enterGeneration(first: RelayedFile): Promise<Start> {
    const { request, range, generations, windowBytes, isGone } = this.#parts;
    const { file } = request;
    const { start } = range;
    const keepFrom = first.size <= windowBytes ? 0 : Math.max(0, start - LIMITS.relayTailBytes);
    const entry = { side: 'r', from: start, keepFrom } as const;
    let extent: Extent = await generations.enter(request, first, entry);
    let isRewound = false;
    // Meanwhile another reader may have made a generation for itself, or the sender may have made one at its own
    // offset.
    while (start < extent.kept || generations.isFarBehind(extent, start)) {
      isRewound = true;
      await generations.rewind(file, { from: extent.generation, offset: start, cause: 'asked' });
      // A request whose receiver has gone would take the file from the next request.
      if (isGone()) throw new ReceiverGone();
      extent = await generations.enter(request, await this.#readRecord(), entry);
    }
    this.#generation = extent.generation;
    const isEmpty = extent.generation > 0 && extent.end === extent.base;
    // When this request has just made the generation, the rewind has already notified the sender.
    if (isEmpty && !isRewound && extent.generation === first.generation) {
      await generations.notifySender(file, extent.generation, extent.base);
    }
    return { awaitsSender: isRewound || isEmpty, hasBytes: extent.end > start };
  }

  #ask(position: number) {
    const { store, request, range, windowBytes } = this.#parts;
    const wanted = Math.min(position + Math.min(WORTH_BYTES, windowBytes >> 2), range.stop);
    return store.waitRead(request, { generation: this.#generation, position, wanted });
  }
}
