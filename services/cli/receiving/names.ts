import type { Transfer } from '../../../shared/client/index.ts';
import { filesIn } from '../../../shared/client/node.ts';
import { oneLine, sizeOf } from '../output.ts';

type OfferedFile = NonNullable<Transfer['files']>[number];

/** So many names are said before the number of the others. */
const NAMES = 3;

/** `a, b, c and 4 more`. */
export function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMES).map(oneLine).join(', ');
  return names.length > NAMES ? `${shown} and ${names.length - NAMES} more` : shown;
}

/** How many files an offer says that it has, those in packs too. */
export const fileCountOf = ({ files = [] }: Pick<Transfer, 'files'>): number =>
  files.reduce((count, file) => count + filesIn(file), 0);

const nameOf = (file: OfferedFile): string => {
  const count = filesIn(file);
  return count > 1 ? `${oneLine(file.name)} with ${count} files` : oneLine(file.name);
};

/** What is offered: the first names, how many there are, how much it is, and from whom. */
export function offered(transfer: Transfer): string {
  const { sender, total_bytes: bytes, files = [] } = transfer;
  const count = fileCountOf(transfer);
  const shown = files.slice(0, NAMES).map(nameOf).join(', ');
  const more = files.length > NAMES ? ` and ${files.length - NAMES} more` : '';
  const what = count === 1 ? shown : `${count} files: ${shown}${more}`;
  return `${oneLine(sender.name)} sends ${what}, ${sizeOf(bytes)}`;
}
