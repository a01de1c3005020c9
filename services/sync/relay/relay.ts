import type { IncomingMessage, ServerResponse } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import { MISMATCHING_OFFSET } from '../../../shared/contract/relay.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import { Download, ReceiverGone } from './download.ts';
import { type ByteRange, readAppendHeaders } from './headers.ts';
import { Places, type PlacesParts } from './places.ts';
import { Requests, type Running } from './requests.ts';
import type { Extent, FileRef, Holder } from './store.ts';
import { Turns } from './turns.ts';
import { Upload } from './upload.ts';

/** A receiver waits so long for a sender that was asked to go back. */
const REWIND_MS = 30_000;

/** A transfer is over a day after the last word about it; bytes that pass are one in this time. */
const KEEP_MS = 3_600_000;

interface RelayParts extends Omit<PlacesParts, 'rung'> {
  stallMs: number;
  onFailure: (task: string, error: unknown) => void;
}

/** Where a download goes. */
export interface Sink {
  res: ServerResponse;
  /** Writes the headers: before the first byte, and as soon as it is sure that there will be one. */
  begin: () => void;
}

const offsetMismatch = (expected: number, provided: number): BatonError =>
  new BatonError('offset_mismatch', `The upload goes on at ${expected}`, {
    headers: { 'Upload-Offset': String(expected) },
    members: { type: MISMATCHING_OFFSET, 'expected-offset': expected, 'provided-offset': provided },
  });

const NOT_BEGUN = { generation: 0, end: 0 };

/** Throws unless an upload of this generation goes on at this offset. */
function checkGoesOn(
  { generation: present, end }: Pick<Extent, 'generation' | 'end'>,
  generation: number,
  offset: number,
): void {
  if (present !== generation) throw new BatonError('upload_gone');
  if (end !== offset) throw offsetMismatch(end, offset);
}

const wrongLength = (size: number): BatonError =>
  new BatonError('upload_length_mismatch', `The file was declared with ${size} bytes`);

/** Bytes between two devices of an account, when no path between them opens. Either side may be on any replica. */
export class Relay {
  readonly #parts: RelayParts;
  readonly #places: Places;
  readonly #turns = new Turns();
  readonly requests: Requests;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.requests = new Requests(parts.metrics);
    this.#places = new Places({ ...parts, rung: (name) => this.requests.rung(name) });
  }

  /** An event goes to streams of this replica: relays make way where such come often. Their own do not count. */
  eventPasses(name: string): void {
    if (!name.startsWith('transfer:')) this.#turns.eventPasses();
  }

  /** How far an upload got, for its sender. Throws `upload_gone` for a generation that is over. */
  async look(asker: DeviceCaller, file: FileRef, generation: number): Promise<{ end: number; size: number }> {
    const known = await this.#places.known(asker, file, 'sender');
    const extent = await this.#places.enter(asker.account, file, known, this.#places.look());
    if (extent.generation !== generation) throw new BatonError('upload_gone');
    return { end: extent.end, size: known.size };
  }

  /** Takes the body of a request; resolves to how far the upload is then. */
  async append(asker: DeviceCaller, file: FileRef, generation: number, req: IncomingMessage) {
    const { store, metrics, windowBytes, stallMs } = this.#parts;
    const { account } = asker;
    this.requests.checkOpen();
    const known = await this.#places.known(asker, file, 'sender');
    const { size } = known;
    const { offset, completes, length } = readAppendHeaders(req);
    const announced = length === null ? null : offset + length;
    if (announced !== null && (announced > size || (completes && announced < size))) {
      // Who begins at the wrong place has not got the length wrong.
      const isBegun = known.generation !== null;
      const extent = isBegun ? await this.#places.enter(account, file, known, this.#places.look()) : NOT_BEGUN;
      checkGoesOn(extent, generation, offset);
      throw wrongLength(size);
    }
    // What brings no byte takes no place.
    const isNew = offset < size && (await this.#places.admit(account, file));
    const holder = this.#places.newHolder();
    let moved = 0;
    let extent: Extent;
    try {
      extent = await this.#places.enter(account, file, known, { side: 'w', holder, from: offset, generation });
      checkGoesOn(extent, generation, offset);
    } catch (error) {
      if (isNew) await store.release(account, [file]);
      throw error;
    }
    const upload = new Upload({
      ...{ req, store, file, generation, size, offset, taken: extent.taken, holder, windowBytes, stallMs },
      turns: this.#turns,
      ring: this.#places.ring,
      onBytes(bytes) {
        moved += bytes;
        metrics.relay_bytes_total.inc({ direction: 'up' }, bytes);
      },
    });
    const running = {
      ...{ asker, file, bufferedBytes: () => upload.bufferedBytes },
      ...{ ring: () => upload.ring(), end: (error: BatonError) => upload.stop(error) },
    };
    const unwatch = this.#watch('sender', running, () => moved, offset < size);
    await this.requests.during('up', running, async () => {
      try {
        await upload.run();
      } catch (error) {
        throw await this.#whyEnded(error, asker, file, generation, upload.end);
      } finally {
        unwatch();
        this.#leave(file, 'w', holder);
      }
    });
    if (completes && upload.end !== size) throw wrongLength(size);
    return { end: upload.end, size };
  }

  /** What has to be known before a download begins. */
  async readable(asker: DeviceCaller, file: FileRef): Promise<RelayedFile> {
    this.requests.checkOpen();
    return this.#places.known(asker, file, 'receiver');
  }

  /** Writes a part of a file until it is all there. Throws only before the headers were written. */
  async download(
    asker: DeviceCaller,
    file: FileRef,
    known: RelayedFile,
    { start, stop }: ByteRange,
    { res, begin }: Sink,
  ) {
    const { store, metrics, windowBytes, stallMs } = this.#parts;
    const { account } = asker;
    if (start >= stop) {
      begin();
      res.end();
      return;
    }
    const holder = this.#places.newHolder();
    let moved = 0;
    const { generation, rewinds } = await this.#enterToRead(asker, file, known, start, holder);
    const download = new Download({
      ...{ res, store, file, generation, size: known.size, start, stop, holder, windowBytes, stallMs, begin },
      turns: this.#turns,
      ring: this.#places.ring,
      onBytes(bytes) {
        moved += bytes;
        metrics.relay_bytes_total.inc({ direction: 'down' }, bytes);
      },
      rewind: async (from, offset) => {
        await this.#places.known(asker, file, 'receiver');
        return this.#places.rewind(account, file, from, offset, 'lost');
      },
      // One that is lost is followed by another.
      tellSender: (now, offset) => void this.#places.tellAgain(account, file, now, offset).catch(() => undefined),
      isFarBehind: (now, offset) => this.#places.isNowFarBehind(file, now, offset),
    });
    if (!rewinds) download.begin();
    const end = (error: BatonError) => (download.hasBegun ? void res.destroy() : download.stop(error));
    const running = { asker, file, bufferedBytes: () => res.writableLength, ring: () => download.ring(), end };
    const unwatch = this.#watch('receiver', running, () => moved, false);
    await this.requests.during('down', running, async () => {
      try {
        if (!(await download.run(REWIND_MS))) throw new BatonError('range_not_available');
        if (!download.isComplete) return;
        const noted = this.#delivered(account, file, download.generation, known.size);
        await noted.catch((error: unknown) => this.#parts.onFailure('relay delivered', error));
      } catch (error) {
        if (!download.hasBegun && !(error instanceof ReceiverGone)) throw error;
        // What has come so far can be gone on from.
        res.destroy();
        const isExpected = error instanceof ReceiverGone || (error instanceof BatonError && error.code !== 'internal');
        if (!isExpected) this.#parts.onFailure('relay download', error);
      } finally {
        unwatch();
        this.#leave(file, 'r', holder);
      }
    });
  }

  /** The receiver has stored the file up to here. */
  async ack(asker: DeviceCaller, file: FileRef, received: number): Promise<void> {
    const known = await this.#places.known(asker, file, 'receiver');
    if (known.generation === null) return;
    const position = Math.min(received, known.size);
    const taking = { token: '', position, keepFrom: position };
    this.#places.ringAll([(await this.#parts.store.take(file, known.generation, taking)).ring], file);
    await this.#parts.transfers.acknowledged(asker, file, position);
    if (position === known.size) await this.#delivered(asker.account, file, known.generation, known.size);
  }

  /** All of a file is with its receiver: remembered beyond the relay's own state, and its place is free. */
  async #delivered(account: string, file: FileRef, generation: number, size: number): Promise<void> {
    const { store, transfers } = this.#parts;
    await Promise.all([transfers.setDelivered(account, file, generation, size), store.release(account, [file])]);
  }

  /** Where the uploads of a transfer are; without those of which there is nothing. */
  async offsets(transferId: string, generations: ReadonlyMap<number, number>): Promise<Map<number, number>> {
    const { side, holder, from } = this.#places.look();
    const found = await Promise.all(
      [...generations].map(async ([index, generation]) => {
        const at = await this.#parts.store.open({ transferId, index }, generation, side, holder, from);
        return [index, at] as const;
      }),
    );
    return new Map(found.flatMap(([index, at]) => (at.found === 'here' ? [[index, at.extent.end] as const] : [])));
  }

  /** A transfer has ended: its bytes go, and so do the requests for them, wherever they run. May be repeated. */
  async drop(account: string, transferId: string, generations: ReadonlyMap<number, number>): Promise<void> {
    const { store } = this.#parts;
    const files = [...generations].map(([index, generation]) => ({ file: { transferId, index }, generation }));
    const places = store.release(
      account,
      files.map(({ file }) => file),
    );
    const drops = files.map(async ({ file, generation }) =>
      this.#places.ringAll(await store.drop(file, generation), file),
    );
    // What fails keeps nothing else from being done.
    const failed = (await Promise.allSettled([places, ...drops])).find((done) => done.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /**
   * Where a reader begins; what is not kept any more is asked of the sender again. `rewinds`: who has to come back first.
   */
  async #enterToRead(asker: DeviceCaller, file: FileRef, known: RelayedFile, start: number, holder: Holder) {
    const { account } = asker;
    const entry = { side: 'r', holder, from: start } as const;
    let extent = await this.#places.enter(account, file, known, entry);
    let rewinds = false;
    // Another reader may have made a generation for itself meanwhile, or the sender one where it had begun.
    while (start < extent.kept || this.#places.isFarBehind(extent, start)) {
      rewinds = true;
      await this.#places.rewind(account, file, extent.generation, start, 'asked');
      extent = await this.#places.enter(account, file, await this.#places.known(asker, file, 'receiver'), entry);
    }
    const isAwaited = extent.generation > 0 && extent.end === extent.base;
    // Where this request has just made the generation, its sender was told.
    if (isAwaited && !rewinds && extent.generation === known.generation)
      await this.#places.tellAgain(account, file, extent.generation, extent.base);
    return { generation: extent.generation, rewinds: rewinds || isAwaited };
  }

  /** What an upload that did not get to its end is told. */
  async #whyEnded(
    error: unknown,
    asker: DeviceCaller,
    file: FileRef,
    generation: number,
    end: number,
  ): Promise<unknown> {
    if (!(error instanceof BatonError)) return error;
    if (error.code === 'window_full') {
      return new BatonError('window_full', undefined, { ...error.extras, headers: { 'Upload-Offset': String(end) } });
    }
    if (error.code !== 'upload_gone') return error;
    try {
      const now = await this.#places.known(asker, file, 'sender');
      const extent = await this.#places.enter(asker.account, file, now, this.#places.look());
      return extent.generation === generation ? offsetMismatch(extent.end, end) : error;
    } catch (reason) {
      return reason;
    }
  }

  /**
   * As long as a request runs: ends it with its transfer, whoever failed to tell it, keeps that from being over as long as
   * bytes pass, and keeps the place of what it sends. Returns what stops that.
   */
  #watch(
    role: 'sender' | 'receiver',
    { asker, file, end }: Running,
    moved: () => number,
    keepsPlace: boolean,
  ): () => void {
    const { store, transfers, stallMs } = this.#parts;
    let kept = { atMs: Number.NEGATIVE_INFINITY, bytes: 0 };
    const look = async () => {
      await this.#places.known(asker, file, role);
      if (moved() > kept.bytes && performance.now() - kept.atMs >= KEEP_MS) {
        await transfers.keep(asker, file);
        kept = { atMs: performance.now(), bytes: moved() };
      }
      if (keepsPlace) await store.reserve(asker.account, file);
    };
    const timer = setInterval(
      () => {
        look().catch((error: unknown) => {
          // Without a store nobody knows.
          if (error instanceof BatonError && error.status < 500) end(error);
        });
      },
      Math.min(stallMs, store.idleMs / 4),
    );
    return () => clearInterval(timer);
  }

  #leave(file: FileRef, side: 'w' | 'r', { token }: Holder): void {
    // The next request rings one that is not there any more: no harm.
    this.#parts.store.leave(file, side, token).catch(() => undefined);
  }
}
