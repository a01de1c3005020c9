import type { BatonClientError } from '../errors/baton-client-error.ts';
import type { Caller } from '../http/caller.ts';
import { type Clock, pause } from '../time/clock.ts';
import { failureOf } from '../errors/failure.ts';
import { makeFileQueue } from './file-queue.ts';
import type { FileSource, Pieces } from '../files/files.ts';
import { append, offsetIn } from './relay-calls.ts';
import { makePieces } from '../files/sources.ts';
import type { Run } from './transfer-run.ts';
import type { Transfer } from '../wire.ts';

/** Pieces grow while they take less than a second, and shrink when they take more than four. */
const FIRST_BYTES = 512 * 1024;
const LEAST_BYTES = 64 * 1024;
const MOST_BYTES = 4 * 1024 * 1024;
const FAST_MS = 1_000;
const SLOW_MS = 4_000;

/**
 * Pauses when the window is full. Small files wait until the receiver has fetched those before them, which takes
 * milliseconds, not the second that every refusal asks for. The pauses grow if nobody fetches.
 */
const USUAL_SPACE_MS = 1_000;
const SOON_MS = 10;
const LATE_MS = 500;

/** A receiver that has a part of a file from another path reports it at once. An old service does not handle the report. */
const SETTLE_MS = 4_000;
const LOOK_AGAIN_MS = 400;

/** Where the upload of a file continues. */
interface Place {
  url: string;
  offset: number;
  /** Aborts the piece that is under way. */
  attempt: AbortController | null;
}

export interface RelaySender {
  /** Resolves when the service has every byte for the first time. */
  readonly uploaded: Promise<void>;
  /** Called with the place where the service says that a file continues. */
  rewind(index: number, url: string, offset: number): void;
  /**
   * Begins, or continues after the bytes took another path. The receiver may have more of the files in `unsettled` than is
   * known here, so their upload waits for its report. Resolves when the relay is in use, and without an error when it cannot
   * be.
   */
  begin(unsettled?: readonly number[]): Promise<void>;
  /** Switches to the relay, if it is not in use, and reads where all files continue. */
  locate(): Promise<void>;
  /** Called when the receiver has a whole file from another path. */
  stored(index: number): void;
  /** Asks how far the pieces under way have come, because they may have been lost with the network. */
  nudge(): void;
}

interface Parts {
  run: Run;
  caller: Caller;
  clock: Clock;
  sources: readonly FileSource[];
  concurrency: number;
  /** False while the bytes take another path. */
  isInUse: () => boolean;
}

/**
 * Sends files through the relay, each from the offset that the service names: after a lost response, a killed replica, or a
 * receiver that needs bytes again. It ends with the transfer.
 */
export function makeRelaySender({ run, caller, clock, sources, concurrency, isInUse }: Parts): RelaySender {
  const { signal, meter } = run;
  const places = new Map<number, Place>();
  const stored = new Set<number>();
  const sent = new Set<number>();
  /** The places of these files when the relay came into use. */
  const unsettled = new Map<number, string>();
  let unsettledAtMs = 0;
  let pieceBytes = FIRST_BYTES;
  let tellUploaded = () => {};
  const uploaded = new Promise<void>((resolve, reject) => {
    tellUploaded = resolve;
    // A completed transfer was uploaded; one that ended otherwise was not.
    run.done.then(() => resolve(), reject);
  });
  uploaded.catch(() => {});

  const sizeOf = (index: number): number => sources[index]?.size ?? 0;

  function placeOf(index: number): Place {
    const place = places.get(index) ?? { url: `/api/relay/${run.id}/${index}/0`, offset: 0, attempt: null };
    places.set(index, place);
    return place;
  }

  function standOf(index: number): string {
    const { url, offset } = placeOf(index);
    return `${url} ${offset}`;
  }

  function moveTo(index: number, url: string, offset: number): void {
    const place = placeOf(index);
    place.url = url;
    place.offset = stored.has(index) ? sizeOf(index) : offset;
    // While the bytes take another path, that path sets the progress.
    if (isInUse() && !unsettled.has(index)) meter.file(index, place.offset);
    // The store has lost bytes of a file that was sent.
    if (place.offset < sizeOf(index) && sent.delete(index)) queue.reopen(index);
  }

  function note({ uploads = [] }: Pick<Transfer, 'uploads'>): void {
    for (const { index, upload_url, offset } of uploads) moveTo(index, upload_url, offset);
  }

  /** Switches to the relay, if it is not in use, and finds the places of all files. */
  async function locate(): Promise<void> {
    if (run.transfer.mode !== 'relay') await run.act('relayTransfer');
    note(await run.insist(run.refresh));
  }

  /** Finds where a file continues after an error, or the reason why it does not. */
  async function relocate(index: number): Promise<void> {
    const { uploads = [] } = await run.refresh();
    note({ uploads: uploads.filter((upload) => upload.index === index) });
  }

  /**
   * Waits until the receiver has told the service what it has from another path, and the service names the new offset. It
   * may never come.
   */
  async function settle(index: number): Promise<void> {
    const isSame = () => standOf(index) === unsettled.get(index);
    while (isSame() && !stored.has(index) && Math.abs(clock.now() - unsettledAtMs) < SETTLE_MS) {
      await pause(LOOK_AGAIN_MS, signal, clock);
      if (isSame()) note(await run.insist(run.refresh));
    }
    unsettled.delete(index);
    meter.file(index, placeOf(index).offset);
  }

  function adapt(bytes: number, ms: number): void {
    if (ms > SLOW_MS) pieceBytes = Math.max(LEAST_BYTES, pieceBytes >> 1);
    else if (ms < FAST_MS && bytes === pieceBytes) pieceBytes = Math.min(MOST_BYTES, 2 * pieceBytes);
  }

  async function sendPiece(index: number, pieces: Pieces, size: number, most: number): Promise<void> {
    const place = placeOf(index);
    const { url, offset } = place;
    const bytes = await (pieces.body?.(offset, most) ?? pieces.at(offset, most));
    const length = 'size' in bytes ? bytes.size : bytes.length;
    if (place.url !== url || place.offset !== offset || !isInUse()) return;
    meter.path('relay');
    const attempt = new AbortController();
    place.attempt = attempt;
    const startedAt = clock.now();
    try {
      const completes = offset + length === size;
      const piece = { path: url, offset, bytes, completes };
      const either = AbortSignal.any([signal, run.pauseSignal(), attempt.signal]);
      const reached = await append(caller, clock, piece, either);
      // The service may have named another place while this piece was under way.
      if (place.url === url) moveTo(index, url, reached);
      adapt(length, clock.now() - startedAt);
    } finally {
      place.attempt = null;
    }
  }

  /** Prepares the next attempt after an error of a piece. Throws the error if a retry cannot help. */
  async function mend(index: number, url: string, error: BatonClientError, failures: number): Promise<void> {
    const place = placeOf(index);
    if (place.url !== url) return;
    const offset = offsetIn(error);
    if (offset !== null) moveTo(index, url, offset);
    if (error.code === 'offset_mismatch' && offset !== null && failures === 0) return;
    const isWorthIt = ['offset_mismatch', 'upload_gone', 'invalid_transition', 'aborted'].includes(error.code);
    if (!isWorthIt && error.action !== 'retry') throw error;
    if (error.code === 'invalid_transition') await locate();
    if (error.code === 'relay_busy' && (error.retryAfterMs ?? 0) <= USUAL_SPACE_MS) {
      return run.rest(Math.min(LATE_MS, SOON_MS * 1.5 ** failures));
    }
    if (failures > 0 || error.action === 'retry') await run.backOff(failures, error.retryAfterMs);
    if (offset === null) await run.insist(() => relocate(index));
  }

  async function send(index: number): Promise<void> {
    const source = sources[index] as FileSource;
    const pieces = makePieces(source, signal);
    let failures = 0;
    let refusals = 0;
    try {
      while (placeOf(index).offset < source.size) {
        await run.unpaused();
        await run.until(isInUse);
        if (unsettled.has(index)) await settle(index);
        const { url, offset } = placeOf(index);
        if (stored.has(index) || offset >= source.size) break;
        try {
          // A refused piece is offered again in the smallest size, because it may be refused again.
          await sendPiece(index, pieces, source.size, refusals > 0 ? LEAST_BYTES : pieceBytes);
          failures = 0;
          refusals = 0;
        } catch (error) {
          signal.throwIfAborted();
          if (run.pauseSignal().aborted) continue;
          const failure = failureOf(error);
          const isBusy = failure.code === 'relay_busy';
          await mend(index, url, failure, isBusy ? refusals : failures);
          // A refusal is a response, so a failure after it does not count as one of several in a row, and waits less.
          failures = isBusy ? 0 : failures + 1;
          refusals = isBusy ? refusals + 1 : 0;
        }
      }
      sent.add(index);
    } finally {
      pieces.close();
    }
  }

  const queue = makeFileQueue({
    sizes: sources.map(({ size }) => size),
    concurrency,
    move: send,
    onDone: () => tellUploaded(),
    onFailed: (error) => void run.fail(failureOf(error)),
  });

  let begun: Promise<void> = Promise.resolve();

  async function begin(ways: readonly number[]): Promise<void> {
    try {
      for (const index of ways) unsettled.set(index, standOf(index));
      unsettledAtMs = clock.now();
      await locate();
      unsettledAtMs = clock.now();
      queue.pump();
    } catch (error) {
      await run.fail(failureOf(error));
    }
  }

  return {
    uploaded,
    locate,
    begin(ways = []) {
      begun = begun.then(() => begin(ways));
      return begun;
    },
    stored: (index) => void stored.add(index),
    rewind(index, url, offset) {
      if (sources[index] === undefined) return;
      stored.delete(index);
      const place = placeOf(index);
      moveTo(index, url, offset);
      place.attempt?.abort();
      queue.reopen(index);
    },
    nudge() {
      for (const { attempt } of places.values()) attempt?.abort();
      run.nudge();
    },
  };
}
