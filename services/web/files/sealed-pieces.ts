import type { FileSource, Pieces } from '../../../shared/client/index.ts';
import { askWorker, newFileNumber } from './ask-worker.ts';
import type { BlobReader } from './blob-reading.ts';
import { readable, readerPieces } from './file-pieces.ts';

type SealedFileParts = Parameters<NonNullable<FileSource['sealedPieces']>>[0];

/** A part of the sealed bytes: into this memory, or as a part of a file. */
type Part = { at: number; memory: ArrayBuffer } | { at: number; length: number };

/** Returns the sealed bytes of a file piece by piece. The worker reads and seals them, so that the page keeps responding. */
export function sealedPieces(file: File, { size, index, key, transferId }: SealedFileParts): Pieces {
  /** Seals in order. To go back, another reader is made, because a part of the earlier one may still be under way. */
  function makeSealing() {
    const number = newFileNumber();
    return {
      async part<T>(wanted: Part): Promise<T> {
        const about = { file: number, blob: file, index, key, transferId: await transferId };
        const moved = 'memory' in wanted ? [wanted.memory] : [];
        return (await askWorker({ act: 'seal', ...about, ...wanted }, moved)) as T;
      },
      close: () => void askWorker({ act: 'close', file: number }).catch(() => {}),
    };
  }

  function sealedReader(offset: number): BlobReader {
    const { part, close } = makeSealing();
    let at = offset;
    return {
      async read(memory) {
        const bytes = await part<Uint8Array<ArrayBuffer>>({ at, memory });
        at += bytes.length;
        return bytes;
      },
      close,
    };
  }

  const pieces = readerPieces(file.name, size, sealedReader);
  const parts = makeSealing();
  return {
    ...pieces,
    body: (at, length) => readable(file.name, () => parts.part<Blob>({ at, length })),
    close() {
      pieces.close();
      parts.close();
    },
  };
}
