import { usageError } from '../failure.ts';

/** The characters that XML 1.0 cannot have, not even escaped ("Characters", 2.2). */
const IMPOSSIBLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
  ...{ '\t': '&#9;', '\n': '&#10;', '\r': '&#13;' },
};

/** Escapes text for XML. Throws for a character that XML cannot have. */
export function xmlOf(text: string): string {
  if (IMPOSSIBLE.test(text)) throw usageError('A path with control characters cannot stand in the file of a service.');
  return text.replace(/[&<>"'\t\n\r]/g, (found) => ENTITIES[found] as string);
}

/** Returns the text that `xmlOf` has escaped. */
export function textIn(xml: string): string {
  const letters = new Map(Object.entries(ENTITIES).map(([letter, entity]) => [entity, letter]));
  return xml.replace(/&[^;]+;/g, (entity) => letters.get(entity) ?? entity);
}
