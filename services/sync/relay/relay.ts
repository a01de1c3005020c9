import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import { MISMATCHING_OFFSET } from '../../../shared/contract/relay.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import { Downloads, type Sink } from './downloads.ts';
import { type ByteRange, readAppendHeaders } from './headers.ts';
import { Places, type PlacesParts } from './places.ts';
import { Requests } from './requests.ts';
import type { Extent, FileRef, Holder } from './store.ts';
import { FairScheduler } from './fair-scheduler.ts';
import { Upload } from './upload.ts';
import { watch } from './watch.ts';

interface RelayParts extends Omit<PlacesParts, 'notified'> {
  stallMs: number;
  onFailure: (task: string, error: unknown) => void;
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

/** A body that is received, and where it goes. */
interface Sent {
  file: FileRef;
  generation: number;
  size: number;
  offset: number;
  taken: number;
  completes: boolean;
  holder: Holder;
}

/** Bytes between two devices of an account, when no path between them opens. Either side may be on any replica. */
export class Relay {
  readonly #parts: RelayParts;
  readonly #places: Places;
  readonly #downloads: Downloads;
  readonly #turns = new FairScheduler();
  readonly requests: Requests;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.requests = new Requests(parts.metrics);
    this.#places = new Places({ ...parts, notified: (name) => this.requests.notified(name) });
    const shared = { places: this.#places, requests: this.requests, scheduler: this.#turns };
    this.#downloads = new Downloads({ ...parts, ...shared });
  }

  /** An event goes to streams of this replica: relays make way where such come often. Their own do not count. */
  eventPasses(name: string): void {
    if (!name.startsWith('transfer:')) this.#turns.eventPasses();
  }

  /** How far an upload got, for its sender. Throws `upload_gone` for a generation that is over. */
  async look(asker: DeviceCaller, file: FileRef, generation: number): Promise<{ end: number; size: number }> {
    const known = await this.#places.known(asker, file, 'sender');
    // There is nothing to look at yet, and nothing is made for it.
    const isBegun = known.generation !== null;
    const extent = isBegun ? await this.#places.enter(asker.account, file, known, this.#places.look()) : NOT_BEGUN;
    if (extent.generation !== generation) throw new BatonError('upload_gone');
    return { end: extent.end, size: known.size };
  }

  /** Takes the body of a request; resolves to how far the upload is then. */
  async append(asker: DeviceCaller, file: FileRef, generation: number, req: IncomingMessage) {
    this.requests.checkOpen();
    const leave = this.requests.admit('up', asker.account);
    try {
      return await this.#append(asker, file, generation, req);
    } finally {
      leave();
    }
  }

  async #append(asker: DeviceCaller, file: FileRef, generation: number, req: IncomingMessage) {
    const known = await this.#places.known(asker, file, 'sender');
    const { account } = asker;
    const { size } = known;
    const { offset, completes, length } = readAppendHeaders(req);
    // What cannot begin leaves nothing behind.
    if (known.generation === null) checkGoesOn(NOT_BEGUN, generation, offset);
    const announced = length === null ? null : offset + length;
    if (announced !== null && (announced > size || (completes && announced < size))) {
      // Who begins at the wrong place has not got the length wrong.
      const isBegun = known.generation !== null;
      const extent = isBegun ? await this.#places.enter(account, file, known, this.#places.look()) : NOT_BEGUN;
      checkGoesOn(extent, generation, offset);
      throw wrongLength(size);
    }
    const { holder, taken } = await this.#enterToSend(account, file, known, { generation, offset });
    return this.#receive(asker, { file, generation, size, offset, taken, completes, holder }, req);
  }

  /** Where what is sent goes. What brings no byte takes no place, and for an empty file there is none. */
  async #enterToSend(
    account: string,
    file: FileRef,
    known: RelayedFile,
    { generation, offset }: { generation: number; offset: number },
  ): Promise<{ holder: Holder; taken: number }> {
    const { size } = known;
    const holder = this.#places.newHolder();
    if (size === 0) {
      checkGoesOn({ generation: known.generation ?? 0, end: 0 }, generation, offset);
      return { holder, taken: 0 };
    }
    const isNew = offset < size && (await this.#places.admit(account, file));
    try {
      const entry = { side: 'w', holder, from: offset, generation, keepsAlive: offset < size } as const;
      const extent = await this.#places.enter(account, file, known, entry);
      checkGoesOn(extent, generation, offset);
      return { holder, taken: extent.taken };
    } catch (error) {
      if (isNew) await this.#parts.store.release(account, [file]);
      throw error;
    }
  }

  async #receive(asker: DeviceCaller, { file, completes, holder, ...sent }: Sent, req: IncomingMessage) {
    const { store, metrics, windowBytes, stallMs, transfers } = this.#parts;
    const { generation, size, offset } = sent;
    let moved = 0;
    const upload = new Upload({
      ...{ req, store, file, ...sent, holder, windowBytes, stallMs },
      scheduler: this.#turns,
      notify: this.#places.notify,
      onBytes(bytes) {
        moved += bytes;
        metrics.relay_bytes_total.inc({ direction: 'up' }, bytes);
      },
    });
    const running = {
      ...{ asker, file, bufferedBytes: () => upload.bufferedBytes, waitsSinceMs: () => null },
      ...{ notify: () => upload.notify(), end: (error: BatonError) => upload.stop(error) },
    };
    const keepPlace = offset < size ? () => store.reserve(asker.account, file) : null;
    const everyMs = Math.min(stallMs, store.idleMs / 4);
    const parts = { places: this.#places, transfers, running, moved: () => moved, keepPlace, everyMs };
    const unwatch = watch({ role: 'sender', ...parts });
    await this.requests.during('up', running, async () => {
      try {
        await upload.run();
      } catch (error) {
        throw await this.#whyEnded(error, asker, file, generation, upload.end);
      } finally {
        unwatch();
        this.#leave(file, holder);
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
    if (start >= stop) {
      begin();
      res.end();
      return;
    }
    await this.#downloads.run(asker, { file, known, range: { start, stop } }, { res, begin });
  }

  /** The receiver has stored the file up to here. */
  async ack(asker: DeviceCaller, file: FileRef, received: number): Promise<void> {
    const known = await this.#places.known(asker, file, 'receiver');
    if (known.generation === null) return;
    const position = Math.min(received, known.size);
    const taking = { token: '', position, keepFrom: position };
    this.#places.notifyAll([(await this.#parts.store.take(file, known.generation, taking)).notify], file);
    await this.#parts.transfers.acknowledged(asker, file, position);
    if (position === known.size) await this.#downloads.delivered(asker.account, file, known.generation, known.size);
  }

  /** Where the uploads of a transfer are; without those of which there is nothing. */
  async offsets(transferId: string, generations: ReadonlyMap<number, number>): Promise<Map<number, number>> {
    const look = this.#places.look();
    const found = await Promise.all(
      [...generations].map(async ([index, generation]) => {
        const at = await this.#parts.store.open({ transferId, index }, generation, look.side, look.holder, look);
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
    // Also those who wait for a file that has not begun.
    const told = store.readers(account, transferId).then((readers) => {
      for (const { file, channel } of readers) this.#places.notify(channel, file);
    });
    const drops = files.map(async ({ file, generation }) =>
      this.#places.notifyAll(await store.drop(file, generation), file),
    );
    // What fails keeps nothing else from being done.
    const failed = (await Promise.allSettled([places, told, ...drops])).find((done) => done.status === 'rejected');
    if (failed) throw failed.reason;
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

  #leave(file: FileRef, { token }: Holder): void {
    // The next request rings one that is not there any more: no harm.
    this.#parts.store.leave(file, 'w', token).catch(() => undefined);
  }
}
