import { BatonClientError, type Pieces } from '../../../shared/client/index.ts';
import { isPassing } from '../engine/repeated.ts';
import { type BlobReader, readBlob } from './blob-reading.ts';

/** A piece of the file. Pieces are read in order: the one that is sent, and the next. */
interface Piece {
  start: number;
  bytes: Promise<Uint8Array<ArrayBuffer>>;
}

/** Returns what `work` gives. @throws `source_failed` for each of its errors but those that pass */
export async function readable<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isPassing(cause)) throw cause;
    throw new BatonClientError('source_failed', `${name} could not be read`, { action: 'tell-user', cause });
  }
}

/** Reads `size` bytes in pieces. Two of them are in memory: the one that is sent, and the next. */
export function readerPieces(
  name: string,
  size: number,
  openAt: (offset: number) => BlobReader,
): Pick<Pieces, 'at' | 'close'> {
  let reader: BlobReader | null = null;
  let last: Piece | null = null;
  let next: Piece | null = null;

  function read(from: BlobReader, start: number, memory: ArrayBuffer): Piece {
    const piece = { start, bytes: readable(name, () => from.read(memory)) };
    piece.bytes.catch(() => {});
    return piece;
  }

  function close(): void {
    reader?.close();
    reader = null;
    last = null;
    next = null;
  }

  return {
    close,
    async at(offset, bytes) {
      if (next?.start !== offset) close();
      reader ??= openAt(offset);
      const from = reader;
      const piece = next ?? read(from, offset, new ArrayBuffer(bytes));
      const before = last;
      last = piece;
      const found = await piece.bytes;
      const end = offset + found.length;
      // The memory of the earlier piece is free by now.
      const memory = (await before?.bytes)?.buffer ?? new ArrayBuffer(bytes);
      if (last === piece && end < size) next = read(from, end, memory);
      return found;
    },
  };
}

/** Returns a file piece by piece. Another device gets bytes. The service gets a part of the file, which the page does not read. */
export const filePieces = (file: File): Pieces => ({
  ...readerPieces(file.name, file.size, (offset) => readBlob(file.slice(offset))),
  async body(offset, bytes) {
    // Otherwise a file that can no longer be read would look like a network error.
    await readable(file.name, () => file.slice(offset, offset + 1).arrayBuffer());
    return file.slice(offset, offset + bytes);
  },
});
