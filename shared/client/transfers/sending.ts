import type { BatonClientError } from '../errors/baton-client-error.ts';
import type { Caller } from '../http/caller.ts';
import type { Clock } from '../time/clock.ts';
import { failureOf } from '../errors/failure.ts';
import { makeFileQueue } from './file-queue.ts';
import type { FileSource, Pieces } from '../files/files.ts';
import { append, look, offsetIn } from './relay-calls.ts';
import { makePieces } from '../files/sources.ts';
import { hasEnded, type Run } from './transfer-run.ts';
import type { Transfer } from '../wire.ts';

/** Pieces grow while they take less than a second, and shrink when they take more than four. */
const PIECE = {
  firstBytes: 512 * 1024,
  leastBytes: 64 * 1024,
  mostBytes: 4 * 1024 * 1024,
  fastMs: 1_000,
  slowMs: 4_000,
};

/**
 * Small files wait for those before them to be fetched, which takes milliseconds, and not the second that every refusal asks
 * for; longer and longer where nobody fetches.
 */
const SPACE_MS = { usual: 1_000, soon: 10, late: 500 };

/** A receiver that has some of a file by another way says so at once; an old service does not hear it. */
const SETTLE_MS = { atMost: 4_000, between: 400 };

const spaceAfterMs = ({ retryAfterMs }: BatonClientError, failures: number): number =>
  retryAfterMs !== null && retryAfterMs > SPACE_MS.usual
    ? retryAfterMs
    : Math.min(SPACE_MS.late, SPACE_MS.soon * 1.5 ** failures);

/** Where the upload of a file goes on. */
interface Place {
  url: string;
  offset: number;
  /** The piece that is under way. */
  attempt: AbortController | null;
}

export interface RelaySender {
  /** Resolves when the service has every byte, for the first time. */
  readonly uploaded: Promise<void>;
  /** The service tells where a file goes on. */
  rewind(index: number, url: string, offset: number): void;
  /**
   * Begins, or goes on after the bytes went another way. Of the files in `unsettled` the receiver may have more than is known
   * here: it is waited for what it says. Resolves when the relay is in use, and is no error when it cannot be.
   */
  begin(unsettled?: readonly number[]): Promise<void>;
  /** The receiver has a file whole, by another way. */
  stored(index: number): void;
  /** What is under way may have been lost with the network: it is asked how far it came. */
  nudge(): void;
}

interface Parts {
  run: Run;
  caller: Caller;
  clock: Clock;
  sources: readonly FileSource[];
  concurrency: number;
  /** False while the bytes go another way. */
  isInUse: () => boolean;
}

/**
 * Sends files through the relay, each from where the service says: after a lost answer, a replica that was killed, or a
 * receiver that has to have something again. It is over when the transfer is.
 */
export function makeRelaySender({ run, caller, clock, sources, concurrency, isInUse }: Parts): RelaySender {
  const { signal, meter } = run;
  const params = { transfer_id: run.id };
  const places = new Map<number, Place>();
  const stored = new Set<number>();
  /** Where these stood when the relay was taken. */
  const unsettled = new Map<number, string>();
  let settledAtMs = 0;
  let pieceBytes = PIECE.firstBytes;
  let tellUploaded = () => {};
  const uploaded = new Promise<void>((resolve, reject) => {
    tellUploaded = resolve;
    // What is done was uploaded; what ended otherwise was not.
    run.done.then(() => resolve(), reject);
  });
  uploaded.catch(() => {});

  function placeOf(index: number): Place {
    const place = places.get(index) ?? { url: `/api/relay/${run.id}/${index}/0`, offset: 0, attempt: null };
    places.set(index, place);
    return place;
  }

  function moveTo(index: number, url: string, offset: number): void {
    const place = placeOf(index);
    place.url = url;
    place.offset = stored.has(index) ? (sources[index]?.size ?? 0) : offset;
    // While it goes another way that is how far it is.
    if (isInUse() && !unsettled.has(index)) meter.file(index, place.offset);
  }

  function note({ uploads = [] }: Pick<Transfer, 'uploads'>): void {
    for (const { index, upload_url, offset } of uploads) moveTo(index, upload_url, offset);
  }

  /** The relay is taken, where it is not, and the places of all files are found. */
  async function locate(): Promise<void> {
    const isOpen = ({ state, mode }: Transfer) => state === 'RELAY_ACTIVE' || (state === 'PENDING' && mode === 'relay');
    if (!isOpen(run.transfer)) {
      const { body } = await run.insist(() => caller.call('relayTransfer', { params, signal }));
      run.update(body.transfer);
    }
    note(await run.insist(() => run.refresh()));
  }

  /** Where a file goes on after something went wrong with it. */
  async function relocate(index: number): Promise<void> {
    const place = placeOf(index);
    const { url } = place;
    try {
      const offset = await look(caller, clock, url, signal);
      if (place.url === url) moveTo(index, url, offset);
    } catch (error) {
      // A refusal without a body has no code. What the transfer says is as good, and says why not.
      if (failureOf(error).action === 'retry') throw error;
      const { uploads } = await run.refresh();
      note({ uploads: (uploads ?? []).filter((upload) => upload.index === index) });
    }
  }

  /** What the receiver has by another way it tells the service, which says where to go on. That may not come. */
  async function settle(index: number): Promise<void> {
    const before = unsettled.get(index);
    const stands = () => `${placeOf(index).url} ${placeOf(index).offset}`;
    while (stands() === before && !stored.has(index) && clock.now() < settledAtMs) {
      await new Promise<void>((resolve) => void clock.after(SETTLE_MS.between, resolve));
      signal.throwIfAborted();
      if (stands() === before) note(await run.insist(() => run.refresh()));
    }
    unsettled.delete(index);
    meter.file(index, placeOf(index).offset);
  }

  function adapt(bytes: number, ms: number): void {
    if (ms > PIECE.slowMs) pieceBytes = Math.max(PIECE.leastBytes, pieceBytes >> 1);
    else if (ms < PIECE.fastMs && bytes === pieceBytes) pieceBytes = Math.min(PIECE.mostBytes, 2 * pieceBytes);
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
      // It was told to go on elsewhere while this was under way.
      if (place.url === url) moveTo(index, url, reached);
      adapt(length, clock.now() - startedAt);
    } finally {
      place.attempt = null;
    }
  }

  /** What went wrong with a piece. Throws what cannot be mended. */
  async function mend(index: number, url: string, error: BatonClientError, failures: number): Promise<void> {
    const place = placeOf(index);
    if (place.url !== url) return;
    const offset = offsetIn(error);
    if (offset !== null) moveTo(index, url, offset);
    if (error.code === 'offset_mismatch' && offset !== null && failures === 0) return;
    const isWorthIt = ['offset_mismatch', 'upload_gone', 'invalid_transition', 'aborted'].includes(error.code);
    if (!isWorthIt && error.action !== 'retry') throw error;
    if (error.code === 'invalid_transition') {
      const now = await run.refresh();
      if (!hasEnded(now)) await locate();
    }
    if (error.code === 'relay_busy') return run.rest(spaceAfterMs(error, failures));
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
          // What was refused is offered again with little, which may be refused again.
          await sendPiece(index, pieces, source.size, refusals > 0 ? PIECE.leastBytes : pieceBytes);
          failures = 0;
          refusals = 0;
        } catch (error) {
          signal.throwIfAborted();
          if (run.pauseSignal().aborted) continue;
          const failure = failureOf(error);
          const isBusy = failure.code === 'relay_busy';
          await mend(index, url, failure, isBusy ? refusals : failures);
          // That was an answer: what goes wrong after it is not the next of several failures, and is not waited for as long.
          failures = isBusy ? 0 : failures + 1;
          refusals = isBusy ? refusals + 1 : 0;
        }
      }
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
  let isFirst = true;

  async function begin(ways: readonly number[]): Promise<void> {
    try {
      for (const index of ways) unsettled.set(index, `${placeOf(index).url} ${placeOf(index).offset}`);
      settledAtMs = clock.now() + SETTLE_MS.atMost;
      await locate();
      settledAtMs = clock.now() + SETTLE_MS.atMost;
      if (isFirst) queue.pump();
      isFirst = false;
    } catch (error) {
      await run.fail(failureOf(error));
    }
  }

  return {
    uploaded,
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
