import type { Hash } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { feed } from '../files/digest.ts';
import { ofSink, sinkOf } from '../files/file-sink.ts';
import type { FileSink } from '../files/files.ts';
import { openFrom, type Records, recordWith } from '../sealed/content/records.ts';
import type { TransferFile } from '../wire.ts';

interface Parts {
  readonly file: TransferFile;
  readonly records: Records;
  readonly sha256: () => Hash;
  readonly signal: AbortSignal;
}

/** Digests what the sink has from before, if the sink does not do that itself; null if nothing needs a digest. */
async function hashOf(sink: FileSink, { file, sha256, signal }: Parts): Promise<Hash | null> {
  const { offset = 0 } = sink;
  // The records prove what is written now, so only bytes from before need the digest.
  if (file.sha256 === null || sink.digest !== undefined || offset === 0) return null;
  const hash = sha256();
  const stored = await ofSink(file.name, async () => {
    const stream = await sink.read?.();
    return stream === undefined ? -1 : feed(hash, stream, signal);
  });
  if (stored === offset) return hash;
  throw new BatonClientError('sink_failed', `${file.name}: what is stored cannot be read`);
}

/**
 * Makes a sink of sealed bytes. The application's sink gets the bytes of each record once it is complete and genuine, and is
 * closed only after the last record. A file that was begun continues with the record in which it stopped.
 */
export async function openingSink(opened: FileSink | WritableStream<Uint8Array>, parts: Parts): Promise<FileSink> {
  const { file, records } = parts;
  const sink = sinkOf(opened);
  const abort = (reason: unknown, isFinal: boolean) => sink.abort?.(reason, isFinal);
  if (sink.isStored)
    return { ...{ offset: records.sealedSize, isStored: true, write() {} }, close: () => sink.close(), abort };
  try {
    const { offset = 0 } = sink;
    if (offset > file.size) {
      throw new BatonClientError('sink_failed', `${file.name} has more than ${file.size} bytes already`);
    }
    const hash = await hashOf(sink, parts);
    const { record, sealedStart, start } = recordWith(records, offset);
    const opening = openFrom(records, record);
    let skipped = offset - start;
    let written = offset;
    let isClosed = false;
    return {
      offset: sealedStart,
      // A restarted receiver begins with the record that is not complete in the sink, and always gets the last record.
      kept: () => (isClosed ? records.sealedSize : recordWith(records, sink.kept?.() ?? written).sealedStart),
      async write(chunk) {
        for (const plain of await opening.push(chunk)) {
          const bytes = plain.subarray(skipped);
          skipped -= plain.length - bytes.length;
          if (bytes.length > 0) await ofSink(file.name, () => sink.write(bytes));
          hash?.update(bytes);
          written += bytes.length;
        }
      },
      async close() {
        opening.finish();
        const digest = file.sha256 === null ? null : (hash?.hex() ?? (await ofSink(file.name, () => sink.digest?.())));
        if (digest !== null && digest !== undefined && digest !== file.sha256) {
          throw new BatonClientError('digest_mismatch', `${file.name} is not what was sent`);
        }
        await ofSink(file.name, () => sink.close());
        isClosed = true;
      },
      abort,
    };
  } catch (error) {
    // Nobody else closes a sink that was opened and is not used.
    await Promise.resolve(sink.abort?.(error, false)).catch(() => {});
    throw error;
  }
}
