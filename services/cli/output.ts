import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import pc from 'picocolors';

/*
 * Everything that this program says goes through here, and is made harmless here: names, texts, addresses and errors come
 * from other devices and from the service, and a terminal obeys what is in them.
 */

/** Emoji as Unicode lists them: the invisible characters that hold one together are shown as that emoji. */
const EMOJI = '\\p{RGI_Emoji}';
/** Controls (C0, DEL, C1), formats (bidi marks among them), separators of lines, halves of letters, and what is blank or nothing. */
const UNSEEN =
  '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Co}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u2800]';
/** The `v` flag is younger than the syntax that the compiler takes. */
const unseenOrEmoji = new RegExp(`${EMOJI}|${UNSEEN}`, 'gv');
const isUnseen = new RegExp(`^${UNSEEN}$`, 'v');

const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(letter: string): string {
  const code = letter.codePointAt(0) as number;
  const hex = code.toString(16);
  if (code < 0x100) return SHORT[letter] ?? `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

/** Text from elsewhere as a terminal may show it: line ends and tabs stay, everything else that is not seen is written out. */
export const plain = (text: string): string =>
  text.replace(unseenOrEmoji, (found) =>
    found === '\n' || found === '\t' || !isUnseen.test(found) ? found : escaped(found),
  );

/** The same in one line. */
export const oneLine = (text: string): string => plain(text).replace(/[\t\n]/g, (found) => SHORT[found] as string);

/** The last letters of a name that is cut: its ending says what a program makes of it. */
const LAST_LETTERS = 20;

/** In quotes, at most so many letters of it. */
const inQuotes = (name: string, most: number): string => {
  const ends = [name.slice(0, most - LAST_LETTERS), name.slice(-LAST_LETTERS)].map((part) => part.toWellFormed());
  return oneLine(JSON.stringify(name.length > most ? ends.join('…') : name));
};

const PLAIN_DEVICE = /^[\p{L}\p{N}][\p{L}\p{N} ._'()-]{0,39}$/u;

/** The name of a device: as it is, or in quotes where it could be taken for a name and the beginning of a text. */
export const deviceNameOf = (name: string): string => (PLAIN_DEVICE.test(name) ? name : inQuotes(name, 64));

/** Words of letters and a few signs; no sentence of this program is made of such alone, but for the number of others. */
const PLAIN_FILE = /^[\p{L}\p{N}\p{M}._()+@#~/-]+(?: [\p{L}\p{N}\p{M}._()+@#~/-]+)*$/u;
/** Of whatever script, since letters of several look like those of `more` and `files`. */
const LIKE_A_NUMBER = /\p{N} \p{L}/u;

/** The name of a file: as it is, or in quotes where it could be taken for what this program says of files. `most`: letters. */
export const fileNameOf = (name: string, most: number = Number.POSITIVE_INFINITY): string =>
  PLAIN_FILE.test(name) && !LIKE_A_NUMBER.test(name) && name.length <= most ? name : inQuotes(name, most);

/** JSON in which nothing is invisible. It says exactly the same. */
const harmlessJson = (value: unknown): string =>
  JSON.stringify(value).replace(unseenOrEmoji, (found) =>
    isUnseen.test(found)
      ? Array.from(
          { length: found.length },
          (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
        ).join('')
      : found,
  );

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

/**
 * At most so many columns: of what is not Latin a terminal may show a sign in two, and the signs of one letter beside each
 * other (Hangul in parts, conjuncts of Indic scripts).
 */
const columnsOf = (letter: string): number =>
  Array.from(letter).reduce(
    (sum, sign) => sum + (/\p{Mn}|\p{Me}/u.test(sign) ? 0 : /[\u0020-\u02af]/.test(sign) ? 1 : 2),
    0,
  );

const columnsOfLine = (line: string): number =>
  [...letters.segment(line)].reduce((sum, { segment }) => sum + columnsOf(segment), 0);

/** Where a style begins or ends. It is another one in each run, so that no text from elsewhere can have it. */
const STYLE = `\ufdd0${randomUUID()}`;
const stylesIn = new RegExp(`${STYLE}(\\d{1,2})m`, 'g');

const width = (text: string): number => [...letters.segment(text.replace(stylesIn, ''))].length;

/** A row in lines that are no wider than a terminal with so many columns; one that goes on loses its styles. */
function fitted(row: string, columns: number): string {
  const text = row.replace(stylesIn, '');
  if (columns === 0 || columnsOfLine(text) < columns) return row;
  const space = Math.max(16, columns - CONTINUED.length - 1);
  return wrapped(text, space).join(`\n${CONTINUED}`);
}

/**
 * Columns side by side, as wide as what is in them. No line is wider than the terminal: a row that is goes on in lines that look
 * like no other row.
 */
export function tableOf(rows: readonly (readonly string[])[], columns: number = process.stdout.columns ?? 0): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ''))));
  return rows
    .map((row) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell))).join('  '))
    .map((line) => fitted(line.trimEnd(), columns))
    .join('\n');
}

const style = (open: number, close: number) => (text: string) => `${STYLE}${open}m${text}${STYLE}${close}m`;

/** Of what `rendered` makes a terminal show, where it shows colours. */
export const colours = { bold: style(1, 22), dim: style(2, 22), green: style(32, 39), cyan: style(36, 39) };

/** Text as it is written: harmless, with the styles that are this program's own. */
export const rendered = (text: string): string =>
  text
    .split(stylesIn)
    .map((part, at) => (at % 2 === 0 ? plain(part) : pc.isColorSupported ? `\x1b[${part}m` : ''))
    .join('');

/** A line cut into some that are no wider than `columns`. */
function wrapped(line: string, columns: number): string[] {
  const lines: string[] = [];
  let [text, taken] = ['', 0];
  for (const { segment } of letters.segment(line)) {
    // A letter that no line has place for is cut.
    for (const part of columnsOf(segment) > columns ? segment : [segment]) {
      const wide = columnsOf(part);
      if (taken + wide > columns) {
        lines.push(text);
        [text, taken] = ['', 0];
      }
      text += part;
      taken += wide;
    }
  }
  return [...lines, text];
}

/** Before each further line of a text. No line of a list of texts begins like that but these. */
const CONTINUED = '    | ';

/**
 * A text of somebody behind `head`, so that none of its lines looks like another head: not where it ends a line, and not where
 * a terminal of so many columns would.
 */
export function quoted(head: string, text: string, columns: number = process.stdout.columns ?? 0): string {
  const space = columns > 0 ? Math.max(16, columns - CONTINUED.length - 1) : Number.POSITIVE_INFINITY;
  const lines = plain(text).replaceAll('\t', '    ').split('\n');
  const [first = '', ...further] = lines.flatMap((line, at) => {
    if (at > 0 || space === Number.POSITIVE_INFINITY) return wrapped(line, space);
    const taken = Math.min(columnsOf(head.replace(stylesIn, '')), space);
    const [start = '', ...rest] = wrapped(' '.repeat(taken) + line, space);
    return [start.slice(taken), ...rest];
  });
  return [head + first, ...further.map((line) => CONTINUED + line)].join('\n');
}

/**
 * What a command says. Results go to standard output, as lines of JSON with `--json`; everything else, progress among it, to
 * standard error.
 */
export interface Output {
  readonly isJson: boolean;
  /** With `--json`, progress is written as results are. */
  readonly tellsProgress: boolean;
  readonly stderr: WriteStream;
  /** A result. `text` is for people; nothing is written for them when it is null. */
  result(value: unknown, text: string | null): void;
  /** What goes on, for people alone. */
  note(text: string): void;
  /** Standard output for the bytes of a file: whoever writes them hears that nobody reads them any more. */
  bytes(): Writable;
}

/** Of the process: its standard output may be closed by whoever reads it, as by `head`. */
export function makeOutput({ isJson, tellsProgress }: Pick<Output, 'isJson' | 'tellsProgress'>): Output {
  let isForBytes = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isForBytes) return;
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  return {
    isJson,
    tellsProgress,
    stderr: process.stderr,
    result(value, text) {
      if (isJson) process.stdout.write(`${harmlessJson(value)}\n`);
      else if (text !== null) {
        const shown = rendered(text);
        process.stdout.write(shown.endsWith('\n') || shown === '' ? shown : `${shown}\n`);
      }
    },
    note(text) {
      if (!isJson) process.stderr.write(`${rendered(text)}\n`);
    },
    bytes() {
      isForBytes = true;
      return process.stdout;
    },
  };
}

/** What is said of a failure. */
interface SaidFailure {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number | null;
  readonly notSent: readonly string[] | undefined;
  readonly notReceived: readonly string[] | undefined;
}

/** Why the program ends, in one line. */
export function writeFailure(failure: SaidFailure, isJson: boolean): void {
  const { code, message, retryAfterMs, notSent, notReceived } = failure;
  const error = { code, message, retry_after_ms: retryAfterMs ?? undefined };
  const failed = { error, not_sent: notSent, not_received: notReceived };
  process.stderr.write(isJson ? `${harmlessJson(failed)}\n` : `baton: ${oneLine(message)}\n`);
}
