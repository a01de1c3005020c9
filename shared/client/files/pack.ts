import { fileNameFlaw } from '../../contract/vocabulary/file-names.ts';

/**
 * A pack is one file of a transfer that stands for many small ones: an archive, named and typed so that whoever does not know
 * of packs keeps an archive that anything unpacks.
 */
const TYPE = /^application\/x-tar; baton-files=([1-9]\d{0,4})$/;

/** An archive is in memory while it is unpacked. A larger one, four times what is packed here, is kept as it is. */
const MOST_BYTES = 4 * 1024 * 1024;
/** What an archive has of each file at least, and what ends it. */
const [HEADER_BYTES, END_BYTES] = [512, 1_024];

export const packType = (files: number): string => `application/x-tar; baton-files=${files}`;

/**
 * How many files a file of a transfer stands for: 1, and more of a pack. One that says what it cannot hold, or that is too
 * large to be unpacked, is a file like others.
 */
export function filesIn({ type, size }: { readonly type?: string | null; readonly size: number }): number {
  const said = Number(TYPE.exec(type ?? '')?.[1] ?? 1);
  return size > MOST_BYTES || said * HEADER_BYTES + END_BYTES > size ? 1 : said;
}

/** A file of its own costs both sides a request, which takes as long as some 200 KiB. */
const SMALL_BYTES = 64 * 1024;

export const isPackable = ({ size }: { size: number }): boolean => size < SMALL_BYTES;

/** The names in a pack, which the service has not seen. Throws where it would refuse one. */
export function checkPacked(files: readonly { name: string }[]): void {
  for (const { name } of files) {
    const flaw = fileNameFlaw(name);
    if (flaw !== null) throw new Error(`a name in the archive ${flaw}`);
  }
}
