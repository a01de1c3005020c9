import { BatonClientError, type Pieces } from '../../../shared/client/index.ts';
import { type BlobReader, readBlob } from './blob-reading.ts';

/** In this order they are read: what is sent, and what comes behind it. */
interface Piece {
  start: number;
  bytes: Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * A file, piece by piece. To another device it goes as bytes, of which two pieces are in memory: the one that is sent, and the
 * next. To the service it goes as a part of the file, of which the page reads nothing.
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
      // The memory of the piece before is free by now.
      const memory = (await before?.bytes)?.buffer ?? new ArrayBuffer(bytes);
      if (last === piece && end < file.size) next = read(from, end, memory);
      return found;
    },
    async body(offset, bytes) {
      // A file that cannot be read any more would look like a network that fails.
      await readable(() => file.slice(offset, offset + 1).arrayBuffer());
      return file.slice(offset, offset + bytes);
    },
  };
}
