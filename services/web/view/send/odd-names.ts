import type { ChosenFile } from '../../files/choosing.ts';
import { texts } from '../../texts/texts.ts';
import { isolated } from '../parts/isolated.ts';
import { notify } from '../parts/notices.ts';

const SAID = 5;

/** Lists the first names, and how many more there are, because a notice is read in a moment. */
function listed(names: readonly string[]): string {
  const first = names.slice(0, SAID).join(', ');
  const rest = names.length - SAID;
  return rest > 0 ? `${first} ${texts.value.files.showAll(rest)}` : first;
}

/** Names the files that the receiver gets under another name. */
export function sayRenamed(files: readonly ChosenFile[]): void {
  const renamed = files
    .filter(({ from }) => from !== undefined)
    .map(({ name, from = name }) => `${isolated(from)} → ${isolated(name)}`);
  if (renamed.length > 0) notify(texts.value.files.renamed(listed(renamed)));
}

/** Names the entries that cannot be sent. */
export function saySkipped(paths: readonly string[], isAll: boolean): void {
  if (paths.length > 0) notify(texts.value.files.skipped(listed(paths.map(isolated))), isAll);
}
