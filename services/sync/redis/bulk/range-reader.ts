/** A reply: text, a number, nothing, an error of the store, or a list. */
export type BulkReply = string | number | null | Error | BulkReply[];

/** Takes the entries of a range as the socket delivers them, neither joined nor copied. */
export interface RangeSink {
  /** An entry's id and the length of its value. */
  entry(id: string, bytes: number): void;
  /** Takes a part of the value. Returns true when the sink still needs the memory; else it is reused. */
  piece(bytes: Buffer): boolean;
}

const NEWLINE = 10;
const CRLF_BYTES = 2;

/** Makes an error with the client library's name for it, so that one place decides what a failed command means. */
function replyError(text: string): Error {
  const error = new Error(text);
  error.name = 'ReplyError';
  return error;
}

interface OpenList {
  items: BulkReply[];
  left: number;
}

/**
 * Reads replies of RESP2. A range (`XRANGE`) is passed on as the socket delivers it; any other reply is small and is
 * collected. Throws on data that is not RESP, after which the connection is useless.
 */
export class RangeReader {
  readonly #onReply: (reply: BulkReply) => void;
  readonly #sinkOfNext: () => RangeSink | null;
  /** The beginning of a line or a short text whose rest has not come. */
  #rest: Buffer | null = null;
  #lists: OpenList[] = [];
  /** Set while a range is being read. */
  #sink: RangeSink | null = null;
  #isStarted = false;
  /** Bytes of the current value still to come; -1: none is under way. */
  #valueLeft = -1;
  /** Bytes of the line end behind a value still to come. */
  #skip = 0;

  constructor(onReply: (reply: BulkReply) => void, sinkOfNext: () => RangeSink | null) {
    this.#onReply = onReply;
    this.#sinkOfNext = sinkOfNext;
  }

  /** Takes what the socket delivered. Returns true when the sink still needs its memory. */
  feed(chunk: Buffer): boolean {
    let bytes = chunk;
    let isKept = false;
    if (this.#rest !== null) {
      bytes = Buffer.concat([this.#rest, chunk]);
      this.#rest = null;
    }
    let at = 0;
    while (at < bytes.length) {
      if (this.#valueLeft > 0) {
        const end = Math.min(bytes.length, at + this.#valueLeft);
        isKept = this.#sink?.piece(bytes.subarray(at, end)) || isKept;
        this.#valueLeft -= end - at;
        at = end;
        if (this.#valueLeft === 0) this.#endValue();
        continue;
      }
      if (this.#skip > 0) {
        const end = Math.min(bytes.length, at + this.#skip);
        this.#skip -= end - at;
        at = end;
        continue;
      }
      const next = this.#token(bytes, at);
      if (next < 0) {
        this.#rest = Buffer.from(bytes.subarray(at));
        return isKept;
      }
      at = next;
    }
    return isKept;
  }

  /** Reads one line, and the short text that it may announce. Returns where that ended; -1 when it is not complete. */
  #token(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(NEWLINE, at);
    if (newline < 0) return -1;
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#sink = this.#sinkOfNext();
    }
    const line = bytes.toString('latin1', at + 1, newline - 1);
    const after = newline + 1;
    switch (String.fromCharCode(bytes[at] as number)) {
      case '+':
        this.#add(line);
        return after;
      case '-':
        this.#add(replyError(line));
        return after;
      case ':':
        this.#add(Number(line));
        return after;
      case '*':
        this.#openList(Number(line));
        return after;
      case '$':
        return this.#bulk(bytes, after, Number(line));
      default:
        throw new Error('the store sent what is not RESP');
    }
  }

  #bulk(bytes: Buffer, at: number, length: number): number {
    if (length < 0) {
      this.#add(null);
      return at;
    }
    // A range is [[id, [field, value]], ...]: the last item of the innermost list is a value, and goes to the sink.
    const entry = this.#sink === null || this.#lists.length !== 3 ? undefined : this.#lists[1];
    if (entry !== undefined && this.#lists[2]?.left === 1) {
      this.#sink?.entry(String(entry.items[0]), length);
      this.#valueLeft = length;
      if (length === 0) this.#endValue();
      return at;
    }
    if (bytes.length < at + length + CRLF_BYTES) return -1;
    this.#add(bytes.toString('latin1', at, at + length));
    return at + length + CRLF_BYTES;
  }

  #endValue(): void {
    this.#valueLeft = -1;
    this.#skip = CRLF_BYTES;
    this.#add('');
  }

  #openList(length: number): void {
    if (length <= 0) this.#add(length < 0 ? null : []);
    else this.#lists.push({ items: [], left: length });
  }

  #add(item: BulkReply): void {
    let done = item;
    for (;;) {
      const list = this.#lists.at(-1);
      if (list === undefined) break;
      list.items.push(done);
      list.left -= 1;
      if (list.left > 0) return;
      this.#lists.pop();
      done = list.items;
    }
    this.#isStarted = false;
    this.#sink = null;
    this.#onReply(done);
  }
}
