import { fileNameFlaw } from '../../contract/vocabulary/file-names.ts';

/**
 * A pack is one file of a transfer that stands for many small ones. It is an archive whose name and type let a receiver that
 * does not know packs keep an archive that any program unpacks.
 */
const TYPE = /^application\/x-tar; baton-files=([1-9]\d{0,4})$/;

/**
 * The largest archive that is unpacked: four times what is packed here, because it is in memory meanwhile. A larger one is
 * kept as an archive.
 */
const MOST_BYTES = 4 * 1024 * 1024;
/** The bytes that an archive has at least for each file, and the bytes that end it. */
const [HEADER_BYTES, END_BYTES] = [512, 1_024];

export const packType = (files: number): string => `application/x-tar; baton-files=${files}`;

/**
 * Returns how many files a file of a transfer stands for: 1, or more for a pack. A pack that claims more files than it can
 * hold, or that is too large to be unpacked, is an ordinary file.
 */
export function filesIn({ type, size }: { readonly type?: string | null; readonly size: number }): number {
  const said = Number(TYPE.exec(type ?? '')?.[1] ?? 1);
  return size > MOST_BYTES || said * HEADER_BYTES + END_BYTES > size ? 1 : said;
}

/** A separate file costs both sides a request, which takes as long as some 200 KiB. */
const SMALL_BYTES = 64 * 1024;

export const isPackable = ({ size }: { size: number }): boolean => size < SMALL_BYTES;

/** Checks the names in a pack, which the service has not seen. Throws if the service would refuse one. */
export function checkPacked(files: readonly { name: string }[]): void {
  for (const { name } of files) {
    const flaw = fileNameFlaw(name);
    if (flaw !== null) throw new Error(`a name in the archive ${flaw}`);
  }
}
