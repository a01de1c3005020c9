import type { FileSource } from '../files/files.ts';
import type { Pipe } from './pipe.ts';
import { parseWord, TELL_BYTES, WINDOW_BYTES } from './words.ts';
import { makePieces } from '../files/sources.ts';
import type { Run } from '../transfers/transfer-run.ts';

/** How many bytes of a source are read at a time. */
const PIECE_BYTES = 1024 * 1024;
/** Far more files than a receiver takes at a time. */
const MOST_WANTED = 64;

interface Want {
  index: number;
  from: number;
}

interface ServingParts {
  pipe: Pipe;
  run: Run;
  sources: readonly FileSource[];
  /** Aborted when the link is over. */
  signal: AbortSignal;
  /** Called when the receiver has stored a whole file. */
  onStored: (index: number) => void;
  onBegun: (index: number) => void;
  /** Called when the receiver sends what this protocol does not allow. */
  onMisbehaved: () => void;
  /** Called after `leave`, when the receiver has taken nearly all that was sent. */
  onLeft: () => void;
  /** Called when a source could not be read. */
  onFailed: (error: unknown) => void;
}

export interface Serving {
  /** Ends at the next multiple of this many bytes of the file: the rest takes another path. */
  leave(multiple: number): void;
}

/**
 * Sends the wanted files over a pipe, one after the other, each from the offset that the receiver names. At most the
 * receiver's window is under way. The receiver reports when it has taken bytes and the window has space again.
 */
export function serveFiles({ pipe, run, sources, signal, ...parts }: ServingParts): Serving {
  const wants: Want[] = [];
  const sentUpTo = new Map<number, number>();
  let sent = 0;
  let taken = 0;
  let leaveAt: number | null = null;
  let wake = () => {};

  function until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      wake = () => {
        if (signal.aborted) reject(signal.reason);
        else if (isSo()) resolve();
      };
      wake();
    });
  }
  const again = () => wake();
  signal.addEventListener('abort', again, { once: true });

  function isWant({ index, from }: Want): boolean {
    const size = sources[index]?.size;
    return size !== undefined && from < size && wants.length < MOST_WANTED;
  }

  /** Obeys a word. False: an honest receiver does not send it. */
  function obey(data: unknown): boolean {
    const word = parseWord(data);
    if (word?.say === 'want') {
      const want = { index: word.file, from: word.at };
      return isWant(want) && wants.push(want) > 0;
    }
    if (word?.say === 'took') {
      const bytes = word.bytes ?? -1;
      if (bytes < taken || bytes > sent || word.at > (sentUpTo.get(word.file) ?? -1)) return false;
      taken = bytes;
      run.meter.file(word.file, word.at);
      return true;
    }
    if (word?.say !== 'stored') return false;
    // A file whose end came over another channel is requested once more.
    if (sentUpTo.get(word.file) === sources[word.file]?.size) parts.onStored(word.file);
    return true;
  }

  function take(data: unknown): void {
    if (signal.aborted) return;
    if (obey(data)) wake();
    else parts.onMisbehaved();
  }
  pipe.listen(take, again);

  async function send(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    // All messages of a piece have nearly the same length. A small rest would cost as much as a whole one.
    const length = Math.ceil(bytes.length / Math.ceil(bytes.length / pipe.messageBytes));
    for (let at = 0; at < bytes.length; at += length) {
      await until(() => pipe.isReady && sent - taken < WINDOW_BYTES);
      await run.unpaused();
      signal.throwIfAborted();
      const message = bytes.subarray(at, at + length);
      pipe.send(message);
      sent += message.length;
    }
  }

  async function serve({ index, from }: Want): Promise<void> {
    const source = sources[index] as FileSource;
    const pieces = makePieces(source, signal);
    parts.onBegun(index);
    run.meter.file(index, from);
    run.meter.path('direct');
    try {
      pipe.send(JSON.stringify({ say: 'file', file: index, at: from }));
      for (let at = from; at < source.size; ) {
        const piece = await pieces.at(at, PIECE_BYTES);
        const most = leaveAt === null ? piece.length : (leaveAt - (at % leaveAt)) % leaveAt;
        const bytes = piece.subarray(0, most);
        if (bytes.length === 0) return;
        sentUpTo.set(index, at + bytes.length);
        await send(bytes);
        at += bytes.length;
      }
    } finally {
      pieces.close();
    }
  }

  async function serveAll(): Promise<void> {
    for (;;) {
      await until(() => wants.length > 0 || leaveAt !== null);
      if (leaveAt !== null) {
        // A receiver reports in steps, and may have more than it has reported, so it says where the other path begins.
        await until(() => sent - taken < TELL_BYTES);
        return parts.onLeft();
      }
      await serve(wants.shift() as Want);
    }
  }

  serveAll().catch((error: unknown) => {
    if (!signal.aborted) parts.onFailed(error);
  });
  return {
    leave(multiple) {
      leaveAt = multiple;
      wake();
    },
  };
}
