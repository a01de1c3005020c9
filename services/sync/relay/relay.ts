import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { MISMATCHING_OFFSET } from '../../../shared/contract/relay.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import { Download, ReceiverGone } from './download.ts';
import type { AppendHeaders, ByteRange } from './headers.ts';
import { type Extent, type FileRef, type Holder, nameOf, type RelayStore } from './store.ts';
import { SenderGone, Upload } from './upload.ts';

/** A receiver waits so long for a sender that was asked to go back. */
const REWIND_MS = 30_000;

/** Another request is just making the generation that this one found missing. */
const SETTLES_MS = 100;

export interface Asker {
  account: string;
  deviceId: string;
}

/** What the relay needs of the room that owns transfers. */
export interface RelayTransfers {
  /** Throws `not_found`, `not_a_party`. */
  relayFile(asker: Asker, file: FileRef): Promise<RelayedFile>;
  /**
   * Makes `to` the generation of a file when it still is `from` (null: not begun), and tells the sender where to go on
   * unless it is the first. Resolves to the generation that it has then.
   */
  setGeneration(account: string, file: FileRef, from: number | null, to: number, offset: number): Promise<number>;
}

interface RelayParts {
  store: RelayStore;
  transfers: RelayTransfers;
  metrics: Metrics;
  windowBytes: number;
  stallMs: number;
  /** Above this much of its memory in use the store takes no new uploads. */
  memoryPercent: number;
  /** The channel of this replica, as it is now. */
  channel: () => string;
  publish: (channel: string, payload: string) => Promise<unknown>;
  onFailure: (task: string, error: unknown) => void;
}

/** A request that is under way on this replica. */
interface Active {
  asker: Asker;
  file: FileRef;
  ring: () => void;
  end: () => void;
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isFinal = (state: string): boolean => state === 'DONE' || state === 'FAILED' || state === 'CANCELLED';

function checkOpen({ state, relayInUse }: RelayedFile): void {
  if (relayInUse && !isFinal(state)) return;
  throw new BatonError('invalid_transition', relayInUse ? `The transfer is ${state}` : 'The relay is not in use', {
    members: { state },
  });
}

const offsetMismatch = (expected: number, provided: number): BatonError =>
  new BatonError('offset_mismatch', `The upload goes on at ${expected}`, {
    headers: { 'Upload-Offset': String(expected) },
    members: { type: MISMATCHING_OFFSET, 'expected-offset': expected, 'provided-offset': provided },
  });

/** Bytes between two devices of an account, when no path between them opens. Either side may be on any replica. */
export class Relay {
  readonly #parts: RelayParts;
  readonly #active = new Set<Active>();
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  get active(): number {
    return this.#active.size;
  }

  /** How far an upload got, for its sender. Throws `upload_gone` for a generation that is over. */
  async look(asker: Asker, file: FileRef, generation: number): Promise<{ end: number; size: number }> {
    const known = await this.#known(asker, file, 'sender');
    const { extent } = await this.#place(asker, file, known, '-', 0);
    if (extent.generation !== generation) throw new BatonError('upload_gone');
    return { end: extent.end, size: known.size };
  }

  /** Takes the body of a request; resolves to how far the upload is then. */
  async append(
    asker: Asker,
    file: FileRef,
    generation: number,
    { offset, completes, length }: AppendHeaders,
    req: IncomingMessage,
  ) {
    const { store, metrics, windowBytes, stallMs } = this.#parts;
    if (this.#isDraining) throw new BatonError('draining');
    const known = await this.#known(asker, file, 'sender');
    const { size } = known;
    const announced = length === null ? null : offset + length;
    if (announced !== null && (announced > size || (completes && announced < size))) {
      throw new BatonError('upload_length_mismatch', `The file was declared with ${size} bytes`);
    }
    await this.#admit(asker, file, known);
    const holder = this.#holder();
    const { extent } = await this.#place(asker, file, known, 'w', 0, holder);
    if (extent.generation !== generation) throw new BatonError('upload_gone');
    if (extent.end !== offset) throw offsetMismatch(extent.end, offset);
    const upload = new Upload({
      ...{ req, store, file, generation, size, offset, taken: extent.taken, holder, windowBytes, stallMs },
      ring: this.#ring,
      onBytes: (bytes) => metrics.relay_bytes_total.inc({ direction: 'up' }, bytes),
    });
    const active = { asker, file, ring: () => upload.ring(), end: () => upload.stop(new BatonError('draining')) };
    await this.#during('up', active, async () => {
      try {
        await upload.run();
      } catch (error) {
        throw await this.#whyEnded(error, asker, file, generation, upload.end);
      } finally {
        this.#leave(file, 'w', holder);
      }
    });
    if (completes && upload.end !== size) {
      throw new BatonError('upload_length_mismatch', `The file was declared with ${size} bytes`);
    }
    return { end: upload.end, size };
  }

  /** What has to be known before the first byte is written. */
  async readable(asker: Asker, file: FileRef): Promise<RelayedFile> {
    if (this.#isDraining) throw new BatonError('draining');
    return this.#known(asker, file, 'receiver');
  }

  /** Writes a file to `res` until it is all there; `begin` writes the headers. Throws only before they were written. */
  async download(
    asker: Asker,
    file: FileRef,
    known: RelayedFile,
    { start, stop }: ByteRange,
    res: ServerResponse,
    begin: () => void,
  ) {
    const { store, metrics, windowBytes, stallMs } = this.#parts;
    const { account } = asker;
    const { size } = known;
    if (start >= stop) {
      begin();
      res.end();
      return;
    }
    const holder = this.#holder();
    let { extent } = await this.#place(asker, file, known, 'r', start, holder);
    const rewinds = start < extent.kept;
    if (rewinds) {
      await this.#rewind(account, file, extent.generation, start, 'asked');
      const again = await this.#known(asker, file, 'receiver');
      ({ extent } = await this.#place(asker, file, again, 'r', start, holder));
    } else if (extent.generation > 0 && extent.end === extent.base) {
      // Whoever made this generation may have died before the sender was told.
      await this.#parts.transfers.setGeneration(account, file, extent.generation, extent.generation, extent.base);
    }
    const { generation } = extent;
    const download = new Download({
      ...{ res, store, file, generation, size, start, stop, holder, windowBytes, stallMs, begin },
      ring: this.#ring,
      onBytes: (bytes) => metrics.relay_bytes_total.inc({ direction: 'down' }, bytes),
      rewind: async (from, offset) => {
        checkOpen(await this.#parts.transfers.relayFile(asker, file));
        return this.#rewind(account, file, from, offset, 'lost');
      },
      isFarBehind: async (now, offset) => {
        const found = await store.open(file, now, '-', holder, 0);
        return found.found === 'here' && found.extent.end + windowBytes < offset;
      },
    });
    if (!rewinds) download.begin();
    const active = { asker, file, ring: () => download.ring(), end: () => res.destroy() };
    await this.#during('down', active, async () => {
      try {
        if (!(await download.run(REWIND_MS))) throw new BatonError('range_not_available');
        if (stop === size) await store.release(account, [file]);
      } catch (error) {
        if (!download.hasBegun && !(error instanceof ReceiverGone)) throw store.fault(error);
        res.destroy();
        if (!(error instanceof ReceiverGone)) this.#parts.onFailure('relay download', error);
      } finally {
        this.#leave(file, 'r', holder);
      }
    });
  }

  /** The receiver has stored the file up to here. */
  async ack(asker: Asker, file: FileRef, received: number): Promise<void> {
    const known = await this.#known(asker, file, 'receiver');
    if (known.generation === null) return;
    const position = Math.min(received, known.size);
    const { ring } = await this.#parts.store.take(file, known.generation, '', position, position);
    if (ring !== '') this.#ring(ring, file);
    if (position === known.size) await this.#parts.store.release(asker.account, [file]);
  }

  /** Where the uploads of a transfer are; null where one has not begun or is lost. */
  async offsets(transferId: string, generations: ReadonlyMap<number, number>): Promise<Map<number, number>> {
    const holder = this.#holder();
    const found = await Promise.all(
      [...generations].map(async ([index, generation]) => {
        const at = await this.#parts.store.open({ transferId, index }, generation, '-', holder, 0);
        return [index, at] as const;
      }),
    );
    return new Map(found.flatMap(([index, at]) => (at.found === 'here' ? [[index, at.extent.end] as const] : [])));
  }

  /** A transfer has ended: its bytes go, and so do the requests for them, wherever they run. Never rejects. */
  ended(account: string, transferId: string, generations: ReadonlyMap<number, number>): void {
    const { store, onFailure } = this.#parts;
    const files = [...generations].map(([index, generation]) => ({ file: { transferId, index }, generation }));
    const drop = async () => {
      for (const { file, generation } of files) {
        for (const channel of await store.drop(file, generation)) if (channel !== '') this.#ring(channel, file);
      }
      await store.release(
        account,
        files.map(({ file }) => file),
      );
    };
    // What is left is dropped when its time is over.
    drop().catch((error: unknown) => onFailure('relay cleanup', error));
  }

  /** The bus: somebody did what a request for this file is waiting for. */
  rung(name: string): void {
    for (const active of this.#active) if (nameOf(active.file) === name) active.ring();
  }

  /** A device was signed out: its requests end here. */
  endDevice(account: string, deviceId: string): void {
    for (const { asker, end } of this.#active) {
      if (asker.account === account && asker.deviceId === deviceId) end();
    }
  }

  /** Lets running requests finish for so long, then cuts them at an offset from which they can go on. */
  async drain(withinMs: number): Promise<void> {
    this.#isDraining = true;
    if (this.#active.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      }),
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      }),
    ]);
    clearTimeout(timer);
    for (const { end } of this.#active) end();
  }

  #holder(): Holder {
    return { token: randomBytes(9).toString('base64url'), channel: this.#parts.channel() };
  }

  async #known(asker: Asker, file: FileRef, role: 'sender' | 'receiver'): Promise<RelayedFile> {
    const known = await this.#parts.transfers.relayFile(asker, file);
    if (known.role !== role) throw new BatonError('not_a_party');
    checkOpen(known);
    return known;
  }

  /** A place among the account's active files, and memory in the store. */
  async #admit({ account }: Asker, file: FileRef, { generation }: RelayedFile): Promise<void> {
    const { store, memoryPercent } = this.#parts;
    if (generation === null && (await store.memoryPercent(file)) > memoryPercent) {
      throw new BatonError('relay_busy', 'The relay has no memory now', { retryAfterSeconds: 10 });
    }
    await store.reserve(account, file);
  }

  /** Finds a file in the store, or makes it: for the first time, or again because the store has lost it. */
  async #place(
    { account }: Asker,
    file: FileRef,
    known: RelayedFile,
    side: 'w' | 'r' | '-',
    readFrom: number,
    holder: Holder = this.#holder(),
  ): Promise<{ extent: Extent }> {
    const { store, transfers } = this.#parts;
    let { generation } = known;
    for (let tries = 0; tries < 10; tries++) {
      if (generation === null) {
        generation = await transfers.setGeneration(account, file, null, 0, 0);
        if (generation === 0) await store.create(file, 0, 0);
      }
      const opened = await store.open(file, generation, side, holder, readFrom);
      if (opened.found === 'newer') generation = opened.generation;
      else if (opened.found === 'lost') {
        generation = await this.#rewind(account, file, generation, side === 'r' ? readFrom : known.base, 'lost');
      } else {
        if (opened.replaced !== '') this.#ring(opened.replaced, file);
        return opened;
      }
    }
    throw new BatonError('store_unavailable');
  }

  /** The next generation, from this offset; or that which another request has just made. */
  async #rewind(
    account: string,
    file: FileRef,
    from: number,
    offset: number,
    cause: 'asked' | 'lost',
  ): Promise<number> {
    const { store, transfers, metrics } = this.#parts;
    if (from >= LIMITS.relayRewinds) throw new BatonError('range_not_available', 'Rewound too often');
    const now = await transfers.setGeneration(account, file, from, from + 1, offset);
    if (now !== from + 1) {
      await delay(SETTLES_MS);
      return now;
    }
    for (const channel of await store.create(file, now, offset)) if (channel !== '') this.#ring(channel, file);
    metrics.relay_rewinds_total.inc({ cause });
    return now;
  }

  /** What an upload that did not get to its end is told. */
  async #whyEnded(error: unknown, asker: Asker, file: FileRef, generation: number, end: number): Promise<unknown> {
    if (error instanceof BatonError && error.code === 'window_full') {
      return new BatonError('window_full', undefined, { ...error.extras, headers: { 'Upload-Offset': String(end) } });
    }
    if (!(error instanceof BatonError && error.code === 'upload_gone')) return error;
    try {
      const now = await this.#known(asker, file, 'sender');
      const { extent } = await this.#place(asker, file, now, '-', 0);
      return extent.generation === generation ? offsetMismatch(extent.end, end) : error;
    } catch (reason) {
      return reason;
    }
  }

  #leave(file: FileRef, side: 'w' | 'r', { token }: Holder): void {
    // The next request rings one that is not there any more: no harm.
    this.#parts.store.leave(file, side, token).catch(() => undefined);
  }

  readonly #ring = (channel: string, file: FileRef): void => {
    if (channel === this.#parts.channel()) return this.rung(nameOf(file));
    // A lost bell costs a second.
    this.#parts.publish(channel, `r\n${nameOf(file)}`).catch(() => undefined);
  };

  async #during(direction: 'up' | 'down', active: Active, act: () => Promise<void>): Promise<void> {
    const { metrics } = this.#parts;
    this.#active.add(active);
    metrics.relay_active.inc({ direction });
    let outcome = 'failed';
    try {
      await act();
      outcome = 'done';
    } catch (error) {
      outcome = error instanceof BatonError ? error.code : error instanceof SenderGone ? 'gone' : 'failed';
      throw error;
    } finally {
      this.#active.delete(active);
      metrics.relay_active.dec({ direction });
      metrics.relay_outcomes_total.inc({ direction, outcome });
      if (this.#active.size === 0) this.#onIdle?.();
    }
  }
}
