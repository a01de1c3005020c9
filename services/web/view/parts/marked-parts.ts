/** A part of a text, and whether it matches the search. */
export interface MarkedPart {
  text: string;
  isFound: boolean;
}

/** How many letters are shown before the first match. */
const BEFORE = 40;
const SHOWN = 300;

const escaped = (words: string): string => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns the text around the first match, in parts. All parts together are the shown text. */
export function markedParts(text: string, words: string): MarkedPart[] {
  const pattern = new RegExp(escaped(words), 'giu');
  const first = words === '' ? -1 : text.search(pattern);
  const from = first > 2 * BEFORE ? first - BEFORE : 0;
  const shown = `${from > 0 ? '… ' : ''}${text.slice(from, from + SHOWN)}`;
  if (first < 0) return [{ text: shown, isFound: false }];
  const parts: MarkedPart[] = [];
  let at = 0;
  for (const { index, 0: found } of shown.matchAll(pattern)) {
    parts.push({ text: shown.slice(at, index), isFound: false }, { text: found, isFound: true });
    at = index + found.length;
  }
  parts.push({ text: shown.slice(at), isFound: false });
  return parts.filter((part) => part.text !== '');
}
