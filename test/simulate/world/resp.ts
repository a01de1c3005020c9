/**
 * The part of RESP (https://redis.io/docs/latest/develop/reference/protocol-spec/) that is needed to tell where a value
 * ends.
 */

const LINE_END = '\r\n';
/** Types with a length, followed by so many bytes. */
const BULK = new Set(['$', '=', '!']);
/** Types with a number of values. Maps and attributes have two values for each. */
const MANY: Record<string, number> = { '*': 1, '~': 1, '>': 1, '%': 2, '|': 2 };

/** Returns where the value that begins at `from` ends; -1 when it is not complete. */
function endOfValue(bytes: Buffer, from = 0): number {
  const lineEnd = bytes.indexOf(LINE_END, from);
  if (lineEnd === -1) return -1;
  const type = String.fromCharCode(bytes[from] as number);
  const after = lineEnd + LINE_END.length;
  const length = Number(bytes.toString('latin1', from + 1, lineEnd));
  if (BULK.has(type)) {
    const end = length < 0 ? after : after + length + LINE_END.length;
    return end <= bytes.length ? end : -1;
  }
  let at = after;
  for (let left = length * (MANY[type] ?? 0); left > 0; left -= 1) {
    at = endOfValue(bytes, at);
    if (at === -1) return -1;
  }
  return at;
}

/** Returns the words of a command, or of a reply that is a list of texts, as text. A missing value is ''. */
export function wordsOf(command: Buffer): string[] {
  const words: string[] = [];
  for (let at = command.indexOf(LINE_END) + LINE_END.length; at < command.length; ) {
    const lineEnd = command.indexOf(LINE_END, at);
    const length = Number(command.toString('latin1', at + 1, lineEnd));
    const begin = lineEnd + LINE_END.length;
    if (length < 0) {
      words.push('');
      at = begin;
      continue;
    }
    words.push(command.toString('utf8', begin, begin + length));
    at = begin + length + LINE_END.length;
  }
  return words;
}

/** Cuts a stream of bytes into values. */
export class ValueReader {
  #kept: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): Buffer[] {
    let bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    const values: Buffer[] = [];
    for (let end = endOfValue(bytes); bytes.length > 0 && end !== -1; end = bytes.length > 0 ? endOfValue(bytes) : -1) {
      values.push(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
    }
    this.#kept = bytes;
    return values;
  }
}

export const commandOf = (...words: string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
