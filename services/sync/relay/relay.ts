import type { IncomingMessage, ServerResponse } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import { MISMATCHING_OFFSET } from '../../../shared/contract/relay.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import { ChunkPool } from './chunk-pool.ts';
import { Download, ReceiverGone } from './download.ts';
import { type ByteRange, readAppendHeaders } from './headers.ts';
import { Places, type PlacesParts } from './places.ts';
import { type Asker, Requests } from './requests.ts';
import type { FileRef, Holder } from './store.ts';
import { Turns } from './turns.ts';
import { Upload } from './upload.ts';

/** A receiver waits so long for a sender that was asked to go back. */
const REWIND_MS = 30_000;

interface RelayParts extends Omit<PlacesParts, 'rung'> {
  windowBytes: number;
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

const wrongLength = (size: number): BatonError =>
  new BatonError('upload_length_mismatch', `The file was declared with ${size} bytes`);

/** Bytes between two devices of an account, when no path between them opens. Either side may be on any replica. */
export class Relay {
  readonly #parts: RelayParts;
  readonly #places: Places;
  readonly #turns = new Turns();
  readonly #chunks = new ChunkPool();
  readonly requests: Requests;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.requests = new Requests(parts.metrics);
    this.#places = new Places({ ...parts, rung: (name) => this.requests.rung(name) });
  }

  /** How far an upload got, for its sender. Throws `upload_gone` for a generation that is over. */
  async look(asker: Asker, file: FileRef, generation: number): Promise<{ end: number; size: number }> {
    const known = await this.#places.known(asker, file, 'sender');
    const extent = await this.#places.enter(asker.account, file, known, this.#places.look());
    if (extent.generation !== generation) throw new BatonError('upload_gone');
    return { end: extent.end, size: known.size };
  }

  /** Takes the body of a request; resolves to how far the upload is then. */
  async append(asker: Asker, file: FileRef, generation: number, req: IncomingMessage) {
    const { store, metrics, windowBytes, stallMs } = this.#parts;
    this.requests.checkOpen();
    const known = await this.#places.known(asker, file, 'sender');
    const { size } = known;
    const { offset, completes, length } = readAppendHeaders(req);
    const announced = length === null ? null : offset + length;
    if (announced !== null && (announced > size || (completes && announced < size))) throw wrongLength(size);
    await this.#places.admit(asker, file, known);
    const holder = this.#places.newHolder();
    const extent = await this.#places.enter(asker.account, file, known, { side: 'w', holder, readFrom: 0 });
    if (extent.generation !== generation) throw new BatonError('upload_gone');
    if (extent.end !== offset) throw offsetMismatch(extent.end, offset);
    const upload = new Upload({
      ...{ req, store, file, generation, size, offset, taken: extent.taken, holder, windowBytes, stallMs },
      turns: this.#turns,
      chunks: this.#chunks,
      ring: this.#places.ring,
      onBytes: (bytes) => metrics.relay_bytes_total.inc({ direction: 'up' }, bytes),
    });
    const running = { asker, file, ring: () => upload.ring(), end: () => upload.stop(new BatonError('draining')) };
    await this.requests.during('up', running, async () => {
      try {
        await upload.run();
      } catch (error) {
        throw await this.#whyEnded(error, asker, file, generation, upload.end);
      } finally {
        this.#leave(file, 'w', holder);
      }
    });
    if (completes && upload.end !== size) throw wrongLength(size);
    return { end: upload.end, size };
  }

  /** What has to be known before a download begins. */
  async readable(asker: Asker, file: FileRef): Promise<RelayedFile> {
    this.requests.checkOpen();
    return this.#places.known(asker, file, 'receiver');
  }

  /** Writes a part of a file until it is all there. Throws only before the headers were written. */
  async download(asker: Asker, file: FileRef, known: RelayedFile, { start, stop }: ByteRange, { res, begin }: Sink) {
    const { store, metrics, windowBytes, stallMs } = this.#parts;
    const { account } = asker;
    if (start >= stop) {
      begin();
      res.end();
      return;
    }
    const holder = this.#places.newHolder();
    const { generation, rewinds } = await this.#enterToRead(asker, file, known, start, holder);
    const download = new Download({
      ...{ res, store, file, generation, size: known.size, start, stop, holder, windowBytes, stallMs, begin },
      turns: this.#turns,
      ring: this.#places.ring,
      onBytes: (bytes) => metrics.relay_bytes_total.inc({ direction: 'down' }, bytes),
      rewind: async (from, offset) => {
        await this.#places.known(asker, file, 'receiver');
        return this.#places.rewind(account, file, from, offset, 'lost');
      },
      isFarBehind: (now, offset) => this.#places.isFarBehind(file, now, offset),
    });
    if (!rewinds) download.begin();
    const running = { asker, file, ring: () => download.ring(), end: () => res.destroy() };
    await this.requests.during('down', running, async () => {
      try {
        if (!(await download.run(REWIND_MS))) throw new BatonError('range_not_available');
        if (stop === known.size) await store.release(account, [file]);
      } catch (error) {
        if (!download.hasBegun && !(error instanceof ReceiverGone)) throw error;
        // What has come so far can be gone on from.
        res.destroy();
        if (!(error instanceof ReceiverGone || error instanceof BatonError)) {
          this.#parts.onFailure('relay download', error);
        }
      } finally {
        this.#leave(file, 'r', holder);
      }
    });
  }

  /** The receiver has stored the file up to here. */
  async ack(asker: Asker, file: FileRef, received: number): Promise<void> {
    const known = await this.#places.known(asker, file, 'receiver');
    if (known.generation === null) return;
    const position = Math.min(received, known.size);
    const at = { position, keepFrom: position };
    this.#places.ringAll([(await this.#parts.store.take(file, known.generation, '', at)).ring], file);
    if (position === known.size) await this.#parts.store.release(asker.account, [file]);
  }

  /** Where the uploads of a transfer are; without those of which there is nothing. */
  async offsets(transferId: string, generations: ReadonlyMap<number, number>): Promise<Map<number, number>> {
    const { side, holder, readFrom } = this.#places.look();
    const found = await Promise.all(
      [...generations].map(async ([index, generation]) => {
        const at = await this.#parts.store.open({ transferId, index }, generation, side, holder, readFrom);
        return [index, at] as const;
      }),
    );
    return new Map(found.flatMap(([index, at]) => (at.found === 'here' ? [[index, at.extent.end] as const] : [])));
  }

  /** A transfer has ended: its bytes go, and so do the requests for them, wherever they run. May be repeated. */
  async drop(account: string, transferId: string, generations: ReadonlyMap<number, number>): Promise<void> {
    const { store } = this.#parts;
    const files = [...generations].map(([index, generation]) => ({ file: { transferId, index }, generation }));
    for (const { file, generation } of files) this.#places.ringAll(await store.drop(file, generation), file);
    await store.release(
      account,
      files.map(({ file }) => file),
    );
  }

  /** Where a reader begins; what is not kept any more is asked of the sender again. */
  async #enterToRead(asker: Asker, file: FileRef, known: RelayedFile, start: number, holder: Holder) {
    const { account } = asker;
    const entry = { side: 'r', holder, readFrom: start } as const;
    let extent = await this.#places.enter(account, file, known, entry);
    let rewinds = false;
    // Another reader may have made a generation for itself meanwhile.
    while (start < extent.kept) {
      rewinds = true;
      await this.#places.rewind(account, file, extent.generation, start, 'asked');
      extent = await this.#places.enter(account, file, await this.#places.known(asker, file, 'receiver'), entry);
    }
    if (!rewinds && extent.generation > 0 && extent.end === extent.base)
      await this.#places.tellAgain(account, file, extent);
    return { generation: extent.generation, rewinds };
  }

  /** What an upload that did not get to its end is told. */
  async #whyEnded(error: unknown, asker: Asker, file: FileRef, generation: number, end: number): Promise<unknown> {
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

  #leave(file: FileRef, side: 'w' | 'r', { token }: Holder): void {
    // The next request rings one that is not there any more: no harm.
    this.#parts.store.leave(file, side, token).catch(() => undefined);
  }
}
