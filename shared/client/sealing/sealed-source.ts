import type { FileSource, Pieces, SealedFileParts } from '../files/files.ts';
import { makePieces } from '../files/sources.ts';
import {
  type MakeRecordCipher,
  makeRecords,
  type Records,
  sealAhead,
  sealedSizeOf,
} from '../sealed/content/records.ts';
import { plainNameOf } from '../sealed/content/transfers.ts';

interface Parts extends Omit<SealedFileParts, 'size'> {
  readonly recordCipher?: MakeRecordCipher | undefined;
}

/** Returns the pieces of a source in a page, which copies the bytes of a request itself, and leaves a `Blob` to the browser. */
function piecesInPage(source: FileSource): Pieces {
  const pieces = makePieces(source, new AbortController().signal);
  return { ...pieces, body: async (offset, bytes) => new Blob([await pieces.at(offset, bytes)]) };
}

/**
 * Makes a source of the sealed bytes of a file, without its name, type and digest. It opens at any offset: the same file has
 * the same sealed bytes each time. A file that changed meanwhile fails at the receiver, and reveals nothing.
 */
export function sealedSource(source: FileSource, { recordCipher, ...parts }: Parts): FileSource {
  const { index, key, transferId } = parts;
  const { size, replayable } = source;
  let made: Promise<Records> | null = null;
  const recordsOf = () =>
    (made ??= transferId.then((id) => makeRecords(key, { transferId: id, index, size }, recordCipher)));
  const sealed: FileSource = {
    ...{ name: plainNameOf(index), size: sealedSizeOf(size), replayable },
    async open(offset, signal) {
      const records = await recordsOf();
      const plain = makePieces(source, signal);
      // An empty file is one empty record, for which nothing is read.
      const read = (start: number, length: number) => (length === 0 ? new Uint8Array(0) : plain.at(start, length));
      const bytes = sealAhead(records, read, offset);
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            try {
              const { done, value } = await bytes.next();
              if (!done) return controller.enqueue(value);
              controller.close();
            } catch (error) {
              // A stream that failed is not cancelled.
              controller.error(error);
            }
            plain.close();
          },
          async cancel() {
            plain.close();
            await bytes.return();
          },
        },
        { highWaterMark: 0 },
      );
    },
  };
  const own = source.sealedPieces?.bind(source, { ...parts, size: sealed.size });
  if (own !== undefined) return { ...sealed, pieces: own };
  return typeof document === 'undefined' ? sealed : { ...sealed, pieces: () => piecesInPage(sealed) };
}
