import type { FileSource, Pieces } from '../../../shared/client/index.ts';
import { askWorker, newFileNumber } from './ask-worker.ts';
import type { BlobReader } from './blob-reading.ts';
import { readable, readerPieces } from './file-pieces.ts';

type SealedFileParts = Parameters<NonNullable<FileSource['sealedPieces']>>[0];

/** Returns the sealed bytes of a file piece by piece. The worker reads and seals them, so that the page keeps responding. */
export function sealedPieces(file: File, { size, index, key, transferId }: SealedFileParts): Pieces {
  const number = newFileNumber();
  const ask = async <T>(part: { at: number; memory: ArrayBuffer } | { at: number; length: number }): Promise<T> => {
    const about = { file: number, blob: file, index, key, transferId: await transferId };
    const moved = 'memory' in part ? [part.memory] : [];
    return (await askWorker({ act: 'seal', ...about, ...part }, moved)) as T;
  };

  function sealedReader(offset: number): BlobReader {
    let at = offset;
    return {
      async read(memory) {
        const bytes = await ask<Uint8Array<ArrayBuffer>>({ at, memory });
        at += bytes.length;
        return bytes;
      },
      close() {},
    };
  }

  const pieces = readerPieces(file.name, size, sealedReader);
  return {
    ...pieces,
    body: (at, length) => readable(file.name, () => ask<Blob>({ at, length })),
    close() {
      pieces.close();
      askWorker({ act: 'close', file: number }).catch(() => {});
    },
  };
}
