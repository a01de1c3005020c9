import { isPicture } from '../files/pictures.ts';
import type { Item } from '../history/database.ts';
import { isRefused, isSealed, isUnopened } from '../history/history.ts';
import { bytesText } from '../texts/quantities.ts';
import { texts } from '../texts/texts.ts';
import { isolated } from './parts/isolated.ts';

/** More letters than any row shows. */
const SHOWN_LETTERS = 160;

/** Describes an item in its own words, for a row of the list and for an announcement. */
export function wordsOf(item: Item): string {
  const { files, item: words } = texts.value;
  if (isSealed(item) || isUnopened(item)) return words.sealed;
  if (isRefused(item)) return words.refused;
  if (item.kind === 'message') return item.text.trim().replace(/\s+/g, ' ').slice(0, SHOWN_LETTERS);
  if (item.fileCount === 1) return item.files[0]?.name ?? files.count(1);
  return item.files.every(({ type }) => isPicture(type)) ? files.photos(item.fileCount) : files.count(item.fileCount);
}

/** Tells whether an item of this device did not get through. */
export const isUnsent = (item: Item | undefined): boolean => item?.isMine === true && item.state === 'failed';

/** Describes the last item of a thread. */
export function lastText(item: Item | undefined): string {
  const { list } = texts.value;
  if (item === undefined) return list.nothing;
  const words = wordsOf(item);
  if (item.isMine) return list.you(isolated(words));
  if (item.kind === 'files' && ['offered', 'active'].includes(item.state)) {
    return `${list.sends(isolated(words))} · ${bytesText(item.totalBytes)}`;
  }
  return words;
}
