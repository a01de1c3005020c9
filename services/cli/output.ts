import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import pc from 'picocolors';

/** Controls of the terminal, and what turns the direction of a line: a name from elsewhere must not move the cursor. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Bidi_Control}]/gu;

/** Text from elsewhere as a terminal may show it: line ends and tabs stay. */
export const plain = (text: string): string => text.replace(CONTROLS, '\ufffd');

/** The same in one line. */
export const oneLine = (text: string): string => plain(text).replace(/[\t\n]+/g, ' ');

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function sizeOf(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

export function durationOf(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

const letters = new Intl.Segmenter();
const width = (text: string): number => [...letters.segment(text)].length;

/** Columns side by side, as wide as what is in them. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ''))));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * What a command says. Results go to standard output, as lines of JSON with `--json`; everything else, progress among it, to
 * standard error.
 */
export interface Output {
  readonly isJson: boolean;
  readonly stderr: WriteStream;
  /** A result. `text` is for people; nothing is written for them when it is null. */
  result(value: unknown, text: string | null): void;
  /** What goes on, for people alone. */
  note(text: string): void;
  /** Standard output for the bytes of a file: whoever writes them hears that nobody reads them any more. */
  bytes(): Writable;
}

/** Of the process: its standard output may be closed by whoever reads it, as by `head`. */
export function makeOutput(isJson: boolean): Output {
  let isForBytes = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isForBytes) return;
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  return {
    isJson,
    stderr: process.stderr,
    result(value, text) {
      if (isJson) process.stdout.write(`${JSON.stringify(value)}\n`);
      else if (text !== null) process.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`);
    },
    note(text) {
      if (!isJson) process.stderr.write(`${text}\n`);
    },
    bytes() {
      isForBytes = true;
      return process.stdout;
    },
  };
}

export const colours = pc;
