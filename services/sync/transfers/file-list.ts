import { LIMITS } from '../../../shared/contract/limits.ts';
import type { NewFile } from '../../../shared/contract/modules/transfers.ts';

/** The files of a transfer as they are stored (`prelude/transfer.lua`). */
export interface FileList {
  count: number;
  totalBytes: number;
  /** JSON array for the record: the whole list when it is short, else the part that is kept after the end. */
  inRecord: string;
  /** A long list, in a separate key: for each file eight hex digits for the offset of its end, then a JSON array. */
  long: string;
  /** Replaces `inRecord` when the transfer ends; '' when that stays. */
  brief: string;
  /** Bytes that count towards the limit of the account. */
  quotaBytes: number;
}

interface StoredFile {
  index: number;
  name: string;
  size: number;
  type: string | null;
  sha256: string | null;
  modified_at?: number | undefined;
}

/** Cuts a name between characters, so that it stays well-formed. */
function cut(name: string, most: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > most) return kept;
    kept += character;
  }
  return kept;
}

/** Returns the first few files, for the history of clients; `file_count` says how many there were. */
const kept = (files: readonly StoredFile[]): string =>
  JSON.stringify(
    files.slice(0, LIMITS.endedFiles).map((file) => ({
      ...file,
      name: cut(file.name, LIMITS.endedNameBytes),
      type: file.type === null || file.type.length > LIMITS.endedNameBytes ? null : file.type,
    })),
  );

/** Prepares the files of an offer for the store. */
export function packFiles(wanted: readonly NewFile[]): FileList {
  const files = wanted.map(({ name, size, type = null, sha256 = null, modified_at }, index) => ({
    index,
    name,
    size,
    type,
    sha256,
    // JSON leaves it out if the sender did not say.
    modified_at,
  }));
  const jsons = files.map((file) => JSON.stringify(file));
  const lengths = jsons.map((json) => Buffer.byteLength(json));
  const whole = `[${jsons.join(',')}]`;
  // This includes brackets and commas.
  const bytes = lengths.reduce((sum, length) => sum + length, files.length + 1);
  const counted = {
    count: files.length,
    totalBytes: files.reduce((sum, { size }) => sum + size, 0),
    quotaBytes: bytes + files.length * LIMITS.fileBookkeepingBytes,
  };
  if (files.length <= LIMITS.filesInEvents) {
    return { ...counted, inRecord: whole, long: '', brief: bytes > LIMITS.endedListBytes ? kept(files) : '' };
  }
  let end = 0;
  const ends = lengths.map((length) => {
    end += 1 + length;
    return end.toString(16).padStart(8, '0');
  });
  return { ...counted, inRecord: kept(files), long: ends.join('') + whole, brief: '' };
}
