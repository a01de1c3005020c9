import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import pc from 'picocolors';

/*
 * All output of this program passes through here and is made harmless here. Names, texts, addresses and errors come from
 * other devices and from the service, and a terminal obeys control characters in them.
 */

/** Emoji as Unicode lists them. Invisible characters that join the parts of an emoji belong to it. */
const EMOJI = '\\p{RGI_Emoji}';
/** Controls (C0, DEL, C1), formats (with bidi marks), line separators, lone surrogates, and blank or empty characters. */
const UNSEEN =
  '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Co}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u2800]';
/** Built from text, because the compiler's syntax is older than the `v` flag. */
const unseenOrEmoji = new RegExp(`${EMOJI}|${UNSEEN}`, 'gv');
const isUnseen = new RegExp(`^${UNSEEN}$`, 'v');

const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(letter: string): string {
  const code = letter.codePointAt(0) as number;
  const hex = code.toString(16);
  if (code < 0x100) return SHORT[letter] ?? `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

/** Makes foreign text safe for a terminal: line ends and tabs stay, and every other invisible character is written out. */
export const plain = (text: string): string =>
  text.replace(unseenOrEmoji, (found) =>
    found === '\n' || found === '\t' || !isUnseen.test(found) ? found : escaped(found),
  );

/** Does the same, in one line. */
export const oneLine = (text: string): string => plain(text).replace(/[\t\n]/g, (found) => SHORT[found] as string);

/** How many last letters a cut name keeps, because the ending shows the type of the file. */
const LAST_LETTERS = 20;

/** Puts a name in quotes, with at most `most` letters of it. */
const inQuotes = (name: string, most: number): string => {
  const ends = [name.slice(0, most - LAST_LETTERS), name.slice(-LAST_LETTERS)].map((part) => part.toWellFormed());
  return oneLine(JSON.stringify(name.length > most ? ends.join('…') : name));
};

const PLAIN_DEVICE = /^[\p{L}\p{N}][\p{L}\p{N} ._'()-]{0,39}$/u;

/** Shows the name of a device, in quotes if it could look like a name and the beginning of a text. */
export const deviceNameOf = (name: string): string => (PLAIN_DEVICE.test(name) ? name : inQuotes(name, 64));

/** Words of letters and a few signs. No sentence of this program has only these, except the number of further names. */
const PLAIN_FILE = /^[\p{L}\p{N}\p{M}._()+@#~/-]+(?: [\p{L}\p{N}\p{M}._()+@#~/-]+)*$/u;
/** A number and a word of any script, because letters of several scripts look like those of `more` and `files`. */
const LIKE_A_NUMBER = /\p{N} \p{L}/u;

/** Shows the name of a file, in quotes if it could look like this program's own words about files. `most`: letters. */
export const fileNameOf = (name: string, most: number = Number.POSITIVE_INFINITY): string =>
  PLAIN_FILE.test(name) && !LIKE_A_NUMBER.test(name) && name.length <= most ? name : inQuotes(name, most);

/** Writes equivalent JSON without invisible characters. */
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
 * Returns the most columns that a letter can take. A terminal may show a sign that is not Latin in two columns, and the
 * signs of one letter side by side (decomposed Hangul, conjuncts of Indic scripts).
 */
const columnsOf = (letter: string): number =>
  Array.from(letter).reduce(
    (sum, sign) => sum + (/\p{Mn}|\p{Me}/u.test(sign) ? 0 : /[\u0020-\u02af]/.test(sign) ? 1 : 2),
    0,
  );

const columnsOfLine = (line: string): number =>
  [...letters.segment(line)].reduce((sum, { segment }) => sum + columnsOf(segment), 0);

/** The mark where a style begins or ends. It differs in each run, so that no foreign text can contain it. */
const STYLE = `\ufdd0${randomUUID()}`;
const stylesIn = new RegExp(`${STYLE}(\\d{1,2})m`, 'g');

const width = (text: string): number => [...letters.segment(text.replace(stylesIn, ''))].length;

/** Breaks a row into lines that fit a terminal with `columns` columns. A broken row loses its styles. */
function fitted(row: string, columns: number): string {
  const text = row.replace(stylesIn, '');
  if (columns === 0 || columnsOfLine(text) < columns) return row;
  const space = Math.max(16, columns - CONTINUED.length - 1);
  return wrapped(text, space).join(`\n${CONTINUED}`);
}

/**
 * Lays out columns side by side, as wide as their content. No line is wider than the terminal: a wider row continues in
 * lines that look like no other row.
 */
export function tableOf(rows: readonly (readonly string[])[], columns: number = process.stdout.columns ?? 0): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ''))));
  return rows
    .map((row) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell))).join('  '))
    .map((line) => fitted(line.trimEnd(), columns))
    .join('\n');
}

const style = (open: number, close: number) => (text: string) => `${STYLE}${open}m${text}${STYLE}${close}m`;

/** The styles that `rendered` turns into colours if the terminal supports them. */
export const colours = { bold: style(1, 22), dim: style(2, 22), green: style(32, 39), cyan: style(36, 39) };

/** Makes text ready for the terminal: harmless, with this program's own styles. */
export const rendered = (text: string): string =>
  text
    .split(stylesIn)
    .map((part, at) => (at % 2 === 0 ? plain(part) : pc.isColorSupported ? `\x1b[${part}m` : ''))
    .join('');

/** Cuts a line into lines that are no wider than `columns`. */
function wrapped(line: string, columns: number): string[] {
  const lines: string[] = [];
  let [text, taken] = ['', 0];
  for (const { segment } of letters.segment(line)) {
    // A letter that is too wide for a line is cut.
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

/** The beginning of each further line of a text. No other line of a list of texts begins like this. */
const CONTINUED = '    | ';

/**
 * Shows somebody's text after `head`, so that none of its lines looks like another head, neither after a line end nor where
 * a terminal with `columns` columns breaks the line.
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
 * The output of a command. Results go to standard output, as lines of JSON with `--json`. Everything else, including
 * progress, goes to standard error.
 */
export interface Output {
  readonly isJson: boolean;
  /** True: with `--json`, progress is written like results. */
  readonly tellsProgress: boolean;
  readonly stderr: WriteStream;
  /** Writes a result. `text` is for people; null writes nothing for them. */
  result(value: unknown, text: string | null): void;
  /** Writes a note for people only. */
  note(text: string): void;
  /** Returns standard output for the bytes of a file. The writer gets an error when they are no longer read. */
  bytes(): Writable;
}

let isForBytes = false;

/** Ends the process when nobody reads its standard output any more. A reader such as `head` may close it. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isForBytes) return;
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`baton: Standard output cannot be written: ${oneLine(error.message)}.\n`);
    process.exit(1);
  });
}

/** Makes the output of the process. */
export function makeOutput({ isJson, tellsProgress }: Pick<Output, 'isJson' | 'tellsProgress'>): Output {
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

/** The reported fields of a failure. */
interface SaidFailure {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number | null;
  readonly notSent: readonly string[] | undefined;
  readonly notReceived: readonly string[] | undefined;
}

/** Writes in one line why the program ends. */
export function writeFailure(failure: SaidFailure, isJson: boolean): void {
  const { code, message, retryAfterMs, notSent, notReceived } = failure;
  const error = { code, message, retry_after_ms: retryAfterMs ?? undefined };
  const failed = { error, not_sent: notSent, not_received: notReceived };
  process.stderr.write(isJson ? `${harmlessJson(failed)}\n` : `baton: ${oneLine(message)}\n`);
}
