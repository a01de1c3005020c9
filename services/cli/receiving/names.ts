import type { Transfer } from '../../../shared/client/index.ts';
import { filesIn } from '../../../shared/client/node.ts';
import { deviceNameOf, fileNameOf, sizeOf } from '../output.ts';

type OfferedFile = NonNullable<Transfer['files']>[number];

/** So many names are said before the number of the others. */
const NAMES = 3;
/** A question is read in a glance: a longer name is cut there. */
const MOST_LETTERS = 80;

/** `a, b, c and 4 more`. */
export function namesOf(names: readonly string[]): string {
  const shown = names
    .slice(0, NAMES)
    .map((name) => fileNameOf(name))
    .join(', ');
  return names.length > NAMES ? `${shown} and ${names.length - NAMES} more` : shown;
}

/** How many files an offer says that it has, those in packs too. */
export const fileCountOf = ({ files = [] }: Pick<Transfer, 'files'>): number =>
  files.reduce((count, file) => count + filesIn(file), 0);

const nameOf = (file: OfferedFile): string => {
  const count = filesIn(file);
  // Their names are in the archive alone.
  return count > 1
    ? `${count} small files in the archive ${fileNameOf(file.name, MOST_LETTERS)}`
    : fileNameOf(file.name, MOST_LETTERS);
};

/** What is offered: the first names, how many there are, how much it is, and from whom. */
export function offered(transfer: Transfer): string {
  const { sender, total_bytes: bytes, files = [] } = transfer;
  const count = fileCountOf(transfer);
  const shown = files.slice(0, NAMES).map(nameOf).join(', ');
  const more = files.length > NAMES ? ` and ${files.length - NAMES} more` : '';
  const what = files.length === 1 ? shown : `${count} files: ${shown}${more}`;
  return `${deviceNameOf(sender.name)} sends ${what}, ${sizeOf(bytes)}`;
}
