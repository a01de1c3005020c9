import { BatonClientError, type Pieces } from '../../../shared/client/index.ts';
import { type BlobReader, readBlob } from './blob-reading.ts';

/** A piece of the file. Pieces are read in order: the one that is sent, and the next. */
interface Piece {
  start: number;
  bytes: Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * Returns a file piece by piece. Another device gets bytes, of which two pieces are in memory: the one that is sent, and the
 * next. The service gets a part of the file, which the page does not read.
 */
export function filePieces(file: File): Pieces {
  let reader: BlobReader | null = null;
  let last: Piece | null = null;
  let next: Piece | null = null;

  async function readable<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const message = `${file.name} could not be read`;
      throw new BatonClientError('source_failed', message, { action: 'tell-user', cause: error });
    }
  }

  function read(from: BlobReader, start: number, memory: ArrayBuffer): Piece {
    const piece = { start, bytes: readable(() => from.read(memory)) };
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
      reader ??= readBlob(file.slice(offset));
      const from = reader;
      const piece = next ?? read(from, offset, new ArrayBuffer(bytes));
      const before = last;
      last = piece;
      const found = await piece.bytes;
      const end = offset + found.length;
      // The memory of the earlier piece is free by now.
      const memory = (await before?.bytes)?.buffer ?? new ArrayBuffer(bytes);
      if (last === piece && end < file.size) next = read(from, end, memory);
      return found;
    },
    async body(offset, bytes) {
      // Otherwise a file that cannot be read any more would look like a network error.
      await readable(() => file.slice(offset, offset + 1).arrayBuffer());
      return file.slice(offset, offset + bytes);
    },
  };
}
