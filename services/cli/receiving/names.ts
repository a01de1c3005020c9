import type { Transfer } from '../../../shared/client/index.ts';
import { filesIn } from '../../../shared/client/node.ts';
import { deviceNameOf, fileNameOf, sizeOf } from '../output.ts';
import { LOCK } from '../sealing.ts';

type OfferedFile = NonNullable<Transfer['files']>[number];

/** How many names are shown before the number of the others. */
const NAMES = 3;
/** Longer names are cut in questions, which users read at a glance. */
const MOST_LETTERS = 80;

/** Returns names such as `a, b, c and 4 more`. */
export function namesOf(names: readonly string[]): string {
  const shown = names
    .slice(0, NAMES)
    .map((name) => fileNameOf(name))
    .join(', ');
  return names.length > NAMES ? `${shown} and ${names.length - NAMES} more` : shown;
}

/** Returns the number of files in an offer, including those in packs. */
export const fileCountOf = ({ files = [] }: Pick<Transfer, 'files'>): number =>
  files.reduce((count, file) => count + filesIn(file), 0);

const nameOf = (file: OfferedFile): string => {
  const count = filesIn(file);
  // Their names are only in the archive.
  return count > 1
    ? `${count} small files in the archive ${fileNameOf(file.name, MOST_LETTERS)}`
    : fileNameOf(file.name, MOST_LETTERS);
};

/** Describes an offer: the first names, the number of files, the size, and the sender. */
export function offered(transfer: Transfer): string {
  const { sender, total_bytes: bytes, files = [] } = transfer;
  const count = fileCountOf(transfer);
  const shown = files.slice(0, NAMES).map(nameOf).join(', ');
  const more = files.length > NAMES ? ` and ${files.length - NAMES} more` : '';
  const what = files.length === 1 ? shown : `${count} files: ${shown}${more}`;
  const lock = transfer.sealed === null ? '' : `${LOCK} `;
  return `${lock}${deviceNameOf(sender.name)} sends ${what}, ${sizeOf(bytes)}`;
}
