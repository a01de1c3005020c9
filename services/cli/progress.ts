import { Format, type Options, SingleBar } from 'cli-progress';
import type { Progress, RunningTransfer } from '../../shared/client/index.ts';
import { colours, durationOf, type Output, sizeOf } from './output.ts';

const BAR_CHARS = 24;

function lineOf(progress: Progress, bar: string): string {
  const { bytes, totalBytes, files, totalFiles, bytesPerSecond, secondsLeft, path, isPaused } = progress;
  const share = totalBytes === 0 ? 100 : Math.floor((100 * bytes) / totalBytes);
  const parts = [
    `${bar} ${String(share).padStart(3)} %`,
    `${sizeOf(bytes)} of ${sizeOf(totalBytes)}`,
    ...(totalFiles > 1 ? [`${files} of ${totalFiles} files`] : []),
    ...(isPaused ? ['paused'] : [`${sizeOf(Math.round(bytesPerSecond))}/s`]),
    ...(secondsLeft !== null && bytes < totalBytes ? [`${durationOf(secondsLeft)} left`] : []),
    ...(path === null ? [] : ['relayed']),
  ];
  return parts.join('  ');
}

/**
 * Shows how far a transfer is, until it is over: on a terminal one line that moves, and nothing elsewhere. Gives what takes
 * the line away before something else is said.
 */
export function showProgress(transfer: RunningTransfer, output: Output): () => void {
  if (output.isJson || !output.stderr.isTTY) return () => undefined;
  let latest = transfer.progress;
  const options: Options = {
    stream: output.stderr,
    clearOnComplete: true,
    hideCursor: true,
    barsize: BAR_CHARS,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    linewrap: false,
    gracefulExit: false,
    format: (barOptions, params) => lineOf(latest, colours.cyan(Format.BarFormat(params.progress, barOptions))),
  };
  const bar = new SingleBar(options);
  bar.start(Math.max(1, latest.totalBytes), latest.bytes);
  const off = transfer.onProgress((progress) => {
    latest = progress;
    bar.update(progress.bytes);
  });
  const stop = () => {
    off();
    bar.stop();
  };
  transfer.done.then(stop, stop);
  return stop;
}
