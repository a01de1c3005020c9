import { fileNameFlaw } from '../../contract/vocabulary/file-names.ts';

/**
 * A pack is one file of a transfer that stands for many small ones: an archive, named and typed so that whoever does not know
 * of packs keeps an archive that anything unpacks.
 */
const TYPE = /^application\/x-tar; baton-files=(\d{1,5})$/;

export const packType = (files: number): string => `application/x-tar; baton-files=${files}`;

/** How many files a file of a transfer stands for: 1, and more of a pack. */
export const filesIn = ({ type }: { readonly type?: string | null }): number => Number(TYPE.exec(type ?? '')?.[1] ?? 1);

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
