import type { ServerResponse } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import { Download, ReceiverGone } from './download.ts';
import type { ByteRange } from './headers.ts';
import type { Places, PlacesParts } from './places.ts';
import type { Start } from './reading.ts';
import type { Requests } from './requests.ts';
import type { FileRef, Holder } from './store.ts';
import type { FairScheduler } from './fair-scheduler.ts';
import { watch } from './watch.ts';

/** A receiver waits so long for a sender that was asked to go back. */
const REWIND_MS = 30_000;

/** Who asked for a rewind in vain may ask again after this. */
const REWIND_AGAIN_SECONDS = 5;

/** Where a download goes. */
export interface Sink {
  res: ServerResponse;
  /** Writes the headers: before the first byte, and as soon as it is sure that there will be one. */
  begin: () => void;
}

/** What was asked for. */
interface Wanted {
  file: FileRef;
  /** As it was found. */
  known: RelayedFile;
  range: ByteRange;
}

export interface DownloadsParts extends Omit<PlacesParts, 'notified'> {
  stallMs: number;
  onFailure: (task: string, error: unknown) => void;
  places: Places;
  requests: Requests;
  scheduler: FairScheduler;
}

/** The requests that read. One that waits for an upload to begin is known to its account alone, and costs a socket. */
export class Downloads {
  readonly #parts: DownloadsParts;

  constructor(parts: DownloadsParts) {
    this.#parts = parts;
  }

  /** Writes a part of a file until it is all there. Throws only before the headers were written. */
  async run(asker: DeviceCaller, wanted: Wanted, sink: Sink): Promise<void> {
    const { places, requests, store, stallMs, transfers } = this.#parts;
    const { file } = wanted;
    const { account } = asker;
    const leave = requests.admit('down', account);
    const holder = places.newHolder();
    const moved = { bytes: 0 };
    const download = this.#make(asker, wanted, sink, { holder, moved });
    const { res } = sink;
    const running = {
      ...{ asker, file, bufferedBytes: () => res.writableLength, notify: () => download.notify() },
      waitsSinceMs: () => download.waitsSinceMs,
      end: (error: BatonError) => {
        download.stop(error);
        if (download.hasBegun) res.destroy();
      },
    };
    const everyMs = Math.min(stallMs, store.idleMs / 4);
    const keepPlace = () => store.read(account, file, holder, false);
    const parts = { places, transfers, running, moved: () => moved.bytes, keepPlace, everyMs };
    const unwatch = watch({ role: 'receiver', ...parts });
    try {
      await requests.during('down', running, () => this.#pass(account, wanted, download, res));
    } finally {
      unwatch();
      leave();
      this.#leave(account, file, holder);
    }
  }

  /** Resolves to what ended it early, where that can no longer be told. */
  async #pass(account: string, { file, known }: Wanted, download: Download, res: ServerResponse): Promise<unknown> {
    const { onFailure } = this.#parts;
    try {
      if (!(await download.run(REWIND_MS))) {
        const again = { retryAfterSeconds: REWIND_AGAIN_SECONDS };
        throw new BatonError('range_not_available', 'The sender was asked for these bytes, and did not come', again);
      }
      if (!download.isComplete) return undefined;
      const noted = this.delivered(account, file, download.generation, known.size);
      await noted.catch((error: unknown) => onFailure('relay delivered', error));
      return undefined;
    } catch (error) {
      if (!download.hasBegun && !(error instanceof ReceiverGone)) throw error;
      // What has come so far can be gone on from.
      res.destroy();
      const isExpected = error instanceof ReceiverGone || (error instanceof BatonError && error.code !== 'internal');
      if (!isExpected) onFailure('relay download', error);
      return error;
    }
  }

  /** All of a file is with its receiver: remembered beyond the relay's own state, and its place is free. */
  async delivered(account: string, file: FileRef, generation: number, size: number): Promise<void> {
    const { places, transfers } = this.#parts;
    await Promise.all([
      transfers.setDelivered(account, file, generation, size),
      places.free(account, file, generation),
    ]);
  }

  #make(
    asker: DeviceCaller,
    wanted: Wanted,
    { res, begin }: Sink,
    { holder, moved }: { holder: Holder; moved: { bytes: number } },
  ): Download {
    const { store, metrics, windowBytes, stallMs, places, scheduler } = this.#parts;
    const { file, known, range } = wanted;
    const { account } = asker;
    return new Download({
      ...{ res, store, file, size: known.size, ...range, holder, windowBytes, stallMs, begin, scheduler },
      notify: places.notify,
      onBytes(bytes) {
        moved.bytes += bytes;
        metrics.relay_bytes_total.inc({ direction: 'down' }, bytes);
      },
      enter: this.#makeEntrance(asker, wanted, holder, () => res.destroyed),
      rewind: async (from, offset) => {
        await places.known(asker, file, 'receiver');
        return places.rewind(account, file, from, offset, 'lost');
      },
      // One that is lost is followed by another.
      tellSender: (now, offset) => void places.tellAgain(account, file, now, offset).catch(() => undefined),
      isFarBehind: (now, offset) => places.isNowFarBehind(file, now, offset),
    });
  }

  /** What finds out where to read; null as long as the upload has not begun. Throws what keeps the request from reading. */
  #makeEntrance(asker: DeviceCaller, { file, known: found, range }: Wanted, holder: Holder, isGone: () => boolean) {
    const { store, places } = this.#parts;
    let known = found;
    let begins = true;
    return async (): Promise<Start | null> => {
      const replaced = await store.read(asker.account, file, holder, begins);
      if (replaced === null) throw new ReceiverGone();
      if (replaced !== '') places.notify(replaced, file);
      // In this order: a sender that begins after the look finds who is to be rung.
      if (!begins || known.generation === null) known = await places.known(asker, file, 'receiver');
      begins = false;
      if (known.generation === null) return null;
      return this.#enterToRead(asker, file, known, { start: range.start, holder, isGone });
    };
  }

  /**
   * Where a reader begins; what is not kept any more is asked of the sender again. `rewinds`: who has to come back first.
   */
  async #enterToRead(
    asker: DeviceCaller,
    file: FileRef,
    known: RelayedFile,
    { start, holder, isGone }: { start: number; holder: Holder; isGone: () => boolean },
  ): Promise<Start> {
    const { places, windowBytes } = this.#parts;
    const { account } = asker;
    const keepFrom = known.size <= windowBytes ? 0 : Math.max(0, start - LIMITS.relayTailBytes);
    const entry = { side: 'r', holder, from: start, keepFrom } as const;
    let extent = await places.enter(account, file, known, entry);
    let rewinds = false;
    // Another reader may have made a generation for itself meanwhile, or the sender one where it had begun.
    while (start < extent.kept || places.isFarBehind(extent, start)) {
      rewinds = true;
      await places.rewind(account, file, extent.generation, start, 'asked');
      // It would take the place of the one that comes next.
      if (isGone()) throw new ReceiverGone();
      extent = await places.enter(account, file, await places.known(asker, file, 'receiver'), entry);
    }
    const isAwaited = extent.generation > 0 && extent.end === extent.base;
    // Where this request has just made the generation, its sender was told.
    if (isAwaited && !rewinds && extent.generation === known.generation)
      await places.tellAgain(account, file, extent.generation, extent.base);
    return { generation: extent.generation, rewinds: rewinds || isAwaited, hasBytes: extent.end > start };
  }

  #leave(account: string, file: FileRef, holder: Holder): void {
    const { store } = this.#parts;
    // The next request rings one that is not there any more, or finds a place taken for some minutes: no harm.
    store.leave(file, 'r', holder.token).catch(() => undefined);
    store.unread(account, file, holder.token).catch(() => undefined);
  }
}
