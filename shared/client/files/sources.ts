import { BatonClientError } from '../errors/baton-client-error.ts';
import type { FileSource, Pieces } from './files.ts';

export const sourceFailed = (message: string, cause?: unknown): BatonClientError =>
  new BatonClientError('source_failed', message, { cause });

/** Returns the date of a source as the wire has it. The service takes none before 1970. */
export const dateOf = ({ modifiedAt }: FileSource) =>
  (modifiedAt as number) > 0 && { modified_at: modifiedAt as number };

/** Makes a source of a `Blob`, or of a `File` of a page, with its path if a folder was chosen. */
export function blobSource(blob: Blob, name?: string): FileSource {
  const file = blob as Partial<File> & Blob;
  return {
    name: name ?? (file.webkitRelativePath || file.name || 'file'),
    size: blob.size,
    ...(blob.type !== '' && { type: blob.type }),
    modifiedAt: file.lastModified,
    replayable: true,
    open: (offset) => blob.slice(offset).stream(),
  };
}

/** Makes a source of a stream of known size, which can be read once. */
export function streamSource(
  stream: ReadableStream<Uint8Array>,
  about: { name: string; size: number; type?: string; sha256?: string },
): FileSource {
  return { ...about, replayable: false, open: () => stream };
}

/** Returns the pieces of any source: its own, or those read from its stream. */
export function makePieces(source: FileSource, signal: AbortSignal): Pieces {
  const own = source.pieces?.();
  if (own !== undefined) return own;
  const { name, size } = source;
  const buffers = [new Uint8Array(0), new Uint8Array(0)];
  let turn = 0;
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  let readerAt = 0;
  let wasOpened = false;
  let rest = new Uint8Array(0) as Uint8Array;
  let last = { start: 0, bytes: new Uint8Array(0) };
  let next: { start: number; bytes: number; piece: Promise<Uint8Array<ArrayBuffer>> } | null = null;

  function close(): void {
    reader?.cancel().catch(() => {});
    reader = null;
  }

  async function openAt(offset: number): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    if (reader !== null && readerAt === offset) return reader;
    if (!source.replayable && (wasOpened || offset > 0)) throw sourceFailed(`${name} cannot be read from ${offset}`);
    close();
    wasOpened = true;
    rest = new Uint8Array(0);
    readerAt = offset;
    reader = (await source.open(offset, signal)).getReader();
    return reader;
  }

  async function read(start: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const from = await openAt(start);
    const wanted = Math.min(bytes, size - start);
    turn = 1 - turn;
    if ((buffers[turn] as Uint8Array).length < wanted) buffers[turn] = new Uint8Array(wanted);
    const buffer = buffers[turn] as Uint8Array<ArrayBuffer>;
    let filled = 0;
    while (filled < wanted) {
      if (rest.length === 0) {
        const { done, value } = await from.read();
        if (done) throw sourceFailed(`${name} ended after ${start + filled} of ${size} bytes`);
        rest = value;
      }
      const part = rest.subarray(0, wanted - filled);
      buffer.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
    }
    readerAt = start + wanted;
    if (readerAt === size && rest.length > 0) throw sourceFailed(`${name} has more than ${size} bytes`);
    return buffer.subarray(0, wanted);
  }

  return {
    close,
    async at(offset, bytes) {
      // The service may have taken a part of the last piece. The rest is still in memory.
      const into = offset - last.start;
      if (into >= 0 && into < last.bytes.length) return last.bytes.subarray(into, into + bytes);
      const ready = next;
      next = null;
      try {
        let piece: Uint8Array<ArrayBuffer>;
        if (ready?.start === offset) piece = await ready.piece;
        else {
          await ready?.piece.catch(() => {});
          piece = await read(offset, bytes);
        }
        last = { start: offset, bytes: piece };
        const start = offset + piece.length;
        if (start < size) {
          const coming = read(start, bytes);
          coming.catch(() => {});
          next = { start, bytes, piece: coming };
        }
        // It was read in the size that was asked for before.
        return piece.subarray(0, bytes);
      } catch (error) {
        if (signal.aborted || error instanceof BatonClientError) throw error;
        throw sourceFailed(`${name} could not be read`, error);
      }
    },
  };
}
