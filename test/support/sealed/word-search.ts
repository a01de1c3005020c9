import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Something that was written down: a value, a file, a log. */
export interface Place {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Returns a word that occurs nowhere by chance. */
export const rareWord = (kind: string): string => `${kind}${randomBytes(12).toString('hex')}`;

/** Returns the characters of base64 that depend on the word alone, if it begins at this offset within three bytes. */
function base64Of(word: string, offset: number): string {
  const encoded = Buffer.from('\0'.repeat(offset) + word, 'latin1').toString('base64');
  const whole = Math.floor(((offset + word.length) * 8) / 6);
  return encoded.slice(Math.ceil((offset * 8) / 6), whole);
}

const codes = (word: string, form: (code: number) => string): string =>
  Array.from(word, (character) => form(character.charCodeAt(0))).join('');
const hex2 = (code: number): string => code.toString(16).padStart(2, '0');

/** Returns the forms in which a word, of characters up to 255, can be written down. */
function formsOf(word: string): Map<string, Buffer> {
  const forms = new Map([
    ['text', Buffer.from(word, 'latin1')],
    ['UTF-16', Buffer.from(word, 'utf16le')],
    ['hex', Buffer.from(codes(word, hex2))],
    ['HEX', Buffer.from(codes(word, hex2).toUpperCase())],
    ['JSON escapes', Buffer.from(codes(word, (code) => `\\u00${hex2(code)}`))],
    ['string escapes', Buffer.from(codes(word, (code) => `\\x${hex2(code)}`))],
    ['URL escapes', Buffer.from(codes(word, (code) => `%${hex2(code)}`))],
  ]);
  for (const offset of [0, 1, 2]) {
    const encoded = base64Of(word, offset);
    forms.set(`base64 at ${offset}`, Buffer.from(encoded));
    forms.set(`base64url at ${offset}`, Buffer.from(encoded.replaceAll('+', '-').replaceAll('/', '_')));
  }
  return forms;
}

/** Returns a secret as words: its bytes, and the texts in which it can stand within something that is encoded again. */
export function wordsOfSecret(kind: string, bytes: Uint8Array): Record<string, string> {
  const word = Buffer.from(bytes).toString('latin1');
  const texts = [0, 1, 2].map((offset) => [
    `${kind} as text at ${offset}`,
    base64Of(word, offset).replaceAll('+', '-').replaceAll('/', '_'),
  ]);
  return { [kind]: word, ...(Object.fromEntries(texts) as Record<string, string>) };
}

/** Returns where each word is found, as `place (form)`. */
export function findWords(words: Readonly<Record<string, string>>, places: readonly Place[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [kind, word] of Object.entries(words)) {
    const forms = formsOf(word);
    found[kind] = places.flatMap(({ name, bytes }) =>
      [...forms].filter(([, form]) => bytes.includes(form)).map(([form]) => `${name} (${form})`),
    );
  }
  return found;
}

/** Returns every file under the folder with its name. */
export function filesUnder(folder: string): Place[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ name: path, bytes: Buffer.concat([Buffer.from(`${path}\n`), readFileSync(path)]) }));
}
