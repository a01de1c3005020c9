import type { Off, Progress } from '../api.ts';
import type { Clock } from '../time/clock.ts';
import type { FileSource } from '../files/files.ts';
import { makeEmitter } from '../emitter.ts';
import { filesIn } from '../files/pack.ts';

/** Ten times a second. */
const TELL_MS = 100;
/** The time over which the rate is measured: long enough to be readable, short enough to be accurate. */
const RATE_MS = 3_000;
/** While nothing moves, the rate is reported again until it is 0. */
const STILL_MS = 1_000;

/** Counts the bytes of a transfer, and reports its progress. */
export interface Meter {
  readonly now: Progress;
  /** Sets how far a file is now; less than before if it has to go back. */
  file(index: number, bytes: number): void;
  path(path: Progress['path']): void;
  paused(isPaused: boolean): void;
  onProgress(listener: (progress: Progress) => void): Off;
  /** Reports the last state, and nothing after it. */
  end(): void;
}

/** A file of a transfer, as either side has it. */
export type Measured = Pick<FileSource, 'size'> & { readonly type?: string | null };

const sum = (numbers: readonly number[]): number => numbers.reduce((before, number) => before + number, 0);

export function makeMeter(all: readonly Measured[], clock: Clock, onThrow: (error: unknown) => void): Meter {
  const totalBytes = sum(all.map(({ size }) => size));
  const totalFiles = sum(all.map(filesIn));
  const at = all.map(() => 0);
  const emitter = makeEmitter<{ progress: Progress }>(onThrow);
  const samples: { ms: number; bytes: number }[] = [];
  let bytes = 0;
  let files = sum(all.filter(({ size }) => size === 0).map(filesIn));
  let path: Progress['path'] = null;
  let isPaused = false;
  let isSoon = false;
  let isHeard = false;
  let cancel: (() => void) | null = null;
  let isOver = false;

  function sample(): void {
    const ms = clock.now();
    const last = samples.at(-1);
    if (last !== undefined && ms - last.ms < TELL_MS) last.bytes = bytes;
    else samples.push({ ms, bytes });
    while (samples.length > 2 && (samples[1] as { ms: number }).ms < ms - RATE_MS) samples.shift();
  }

  function rate(): number {
    const [first, last] = [samples[0], samples.at(-1)];
    if (first === undefined || last === undefined || clock.now() - last.ms > RATE_MS) return 0;
    const ms = clock.now() - first.ms;
    return ms < TELL_MS ? 0 : (Math.max(0, bytes - first.bytes) * 1_000) / ms;
  }

  function now(): Progress {
    const bytesPerSecond = isPaused ? 0 : rate();
    const left = totalBytes - bytes;
    const secondsLeft = left === 0 ? 0 : bytesPerSecond > 0 ? left / bytesPerSecond : null;
    return { bytes, totalBytes, files, totalFiles, bytesPerSecond, secondsLeft, path, isPaused };
  }

  function tell(): void {
    cancel = null;
    isSoon = false;
    const progress = now();
    emitter.emit('progress', progress);
    // A listener may have caused a change, which is then reported soon anyway.
    if (!isOver && !isSoon && progress.bytesPerSecond > 0) cancel = clock.after(STILL_MS, tell);
  }

  function tellSoon(): void {
    if (isOver || isSoon || !isHeard) return;
    cancel?.();
    isSoon = true;
    cancel = clock.after(TELL_MS, tell);
  }

  return {
    get now() {
      return now();
    },
    file(index, reached) {
      const before = at[index] ?? 0;
      const size = all[index]?.size ?? 0;
      if (samples.length === 0) sample();
      at[index] = reached;
      bytes += reached - before;
      if (size > 0) files += filesIn(all[index] as Measured) * (Number(reached === size) - Number(before === size));
      sample();
      tellSoon();
    },
    path(next) {
      path = next;
      tellSoon();
    },
    paused(next) {
      isPaused = next;
      samples.length = 0;
      tellSoon();
    },
    onProgress(listener) {
      isHeard = true;
      return emitter.on('progress', listener);
    },
    end() {
      if (isOver) return;
      isOver = true;
      cancel?.();
      tell();
    },
  };
}
