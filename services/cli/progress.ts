import { Format, type Options, SingleBar } from 'cli-progress';
import type { Progress, RunningTransfer } from '../../shared/client/index.ts';
import { colours, deviceNameOf, durationOf, type Output, rendered, sizeOf } from './output.ts';

const TELL_MS = 1_000;

const OPTIONS: Options = {
  clearOnComplete: true,
  hideCursor: true,
  barsize: 24,
  barCompleteChar: '█',
  barIncompleteChar: '░',
  linewrap: false,
  gracefulExit: false,
};

/** Says at which rate the bytes move, or for which devices they wait. */
function paceOf({ bytes, totalBytes, bytesPerSecond, isPaused }: Progress, peers: readonly string[]): string {
  if (isPaused) return 'paused';
  if (bytesPerSecond > 0 || bytes === totalBytes) return `${sizeOf(Math.round(bytesPerSecond))}/s`;
  return `waiting for ${peers.map(deviceNameOf).join(', ')}`;
}

function lineOf(progress: Progress, peers: readonly string[], bar: string): string {
  const { bytes, totalBytes, files, totalFiles, secondsLeft, path } = progress;
  const share = totalBytes === 0 ? 100 : Math.floor((100 * bytes) / totalBytes);
  const parts = [
    `${bar} ${String(share).padStart(3)} %`,
    `${sizeOf(bytes)} of ${sizeOf(totalBytes)}`,
    ...(totalFiles > 1 ? [`${files} of ${totalFiles} files`] : []),
    paceOf(progress, peers),
    ...(secondsLeft !== null && bytes < totalBytes ? [`${durationOf(secondsLeft)} left`] : []),
    ...(path === null ? [] : ['relayed']),
  ];
  return parts.join('  ');
}

/** Adds up all progress. */
function sumOf(all: readonly Progress[]): Progress {
  const sum = (of: (one: Progress) => number) => all.reduce((total, one) => total + of(one), 0);
  const [bytes, totalBytes, bytesPerSecond] = [
    sum((one) => one.bytes),
    sum((one) => one.totalBytes),
    sum((one) => one.bytesPerSecond),
  ];
  return {
    ...{ bytes, totalBytes, bytesPerSecond },
    files: sum((one) => one.files),
    totalFiles: sum((one) => one.totalFiles),
    secondsLeft: bytes === totalBytes ? 0 : bytesPerSecond > 0 ? (totalBytes - bytes) / bytesPerSecond : null,
    path: all.find(({ path }) => path !== null)?.path ?? null,
    isPaused: all.every(({ isPaused }) => isPaused),
  };
}

/** One progress line for all transfers that run here. */
export interface ProgressLine {
  /** Shows a transfer with the device `peer` until it is over, or the returned function is called. */
  add(transfer: RunningTransfer, peer: string): () => void;
  /** Hides the line while `work` writes or asks something else. */
  aside<T>(work: () => T): T;
}

/** Shows on a terminal how much of the files was read before they are offered. */
export function showPreparing(output: Output, totalBytes: number): { read: (bytes: number) => void; end: () => void } {
  if (output.isJson || !output.stderr.isTTY) return { read: () => undefined, end: () => undefined };
  const bar = new SingleBar({
    ...OPTIONS,
    stream: output.stderr,
    format: (options, { progress, value }) =>
      rendered(
        `${colours.cyan(Format.BarFormat(progress, options))}  Preparing  ${sizeOf(value)} of ${sizeOf(totalBytes)}`,
      ),
  });
  bar.start(Math.max(1, totalBytes), 0);
  return { read: (bytes) => bar.update(bytes), end: () => bar.stop() };
}

const QUIET: ProgressLine = { add: () => () => undefined, aside: (work) => work() };

/** Writes a line of JSON each second for each transfer, and one at its end. */
const inJson = (output: Output): ProgressLine => ({
  ...QUIET,
  add(transfer) {
    let saidAtMs = Number.NEGATIVE_INFINITY;
    function say(): void {
      saidAtMs = performance.now();
      const { bytes, totalBytes, files, totalFiles, bytesPerSecond, secondsLeft, path, isPaused } = transfer.progress;
      const amounts = { bytes, total_bytes: totalBytes, files, total_files: totalFiles };
      const pace = { bytes_per_second: Math.round(bytesPerSecond), seconds_left: secondsLeft };
      output.result({ progress: { transfer_id: transfer.id, ...amounts, ...pace, path, paused: isPaused } }, null);
    }
    const off = transfer.onProgress(({ bytes, totalBytes }) => {
      if (performance.now() - saidAtMs >= TELL_MS || bytes === totalBytes) say();
    });
    transfer.done.then(off, off);
    return off;
  },
});

/** Shows how far transfers are: on a terminal one moving line, with `--json --progress` lines of JSON, else nothing. */
export function makeProgressLine(output: Output): ProgressLine {
  if (output.isJson && output.tellsProgress) return inJson(output);
  if (output.isJson || !output.stderr.isTTY) return QUIET;
  /** The transfers, with the names of the other devices. */
  const shown = new Map<RunningTransfer, string>();
  let latest: Progress | null = null;
  let bar: SingleBar | null = null;
  let asides = 0;
  const text = (drawn: string): string => lineOf(latest as Progress, [...new Set(shown.values())], drawn);
  const options: Options = {
    ...OPTIONS,
    stream: output.stderr,
    format: (barOptions, params) => rendered(text(colours.cyan(Format.BarFormat(params.progress, barOptions)))),
  };

  function hide(): void {
    bar?.stop();
    bar = null;
  }

  function show(): void {
    if (shown.size === 0 || asides > 0) return hide();
    latest = sumOf([...shown.keys()].map(({ progress }) => progress));
    if (bar === null) {
      bar = new SingleBar(options);
      bar.start(Math.max(1, latest.totalBytes), latest.bytes);
    } else {
      bar.setTotal(Math.max(1, latest.totalBytes));
      bar.update(latest.bytes);
    }
  }

  function back(): void {
    asides -= 1;
    show();
  }

  return {
    add(transfer, peer) {
      shown.set(transfer, peer);
      show();
      const off = transfer.onProgress(show);
      const stop = () => {
        off();
        shown.delete(transfer);
        show();
      };
      transfer.done.then(stop, stop);
      return stop;
    },
    aside(work) {
      asides += 1;
      hide();
      const done = work();
      if (done instanceof Promise) void done.then(back, back);
      else back();
      return done;
    },
  };
}
