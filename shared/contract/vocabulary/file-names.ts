import { LIMITS } from '../limits.ts';

/**
 * C0, DEL and C1, and every character that changes the direction of text, so that `txt.exe` cannot look like `exe.txt`
 * (Unicode TR 36, bidi overrides).
 */
export const HOSTILE_CHARACTERS = /[\p{Cc}\p{Bidi_Control}]/u;

/** Plain ASCII names without a backslash. Only the parts of such a name need a check, because each character is a byte. */
const PLAIN = /^[ -[\]-~]*$/;

/** Returns why a text is not the name of a file (contract, "Transfers"), or null. */
export function fileNameFlaw(name: string): string | null {
  const isPlain = PLAIN.test(name);
  if (!isPlain && !name.isWellFormed()) return 'is not well-formed Unicode';
  if (!isPlain && name.includes('\\')) return 'holds a backslash';
  if (!isPlain && HOSTILE_CHARACTERS.test(name)) return 'holds a control character';
  const bytesOf = (text: string) => (isPlain ? text.length : new TextEncoder().encode(text).length);
  if (bytesOf(name) > LIMITS.fileNameBytes) return `is over ${LIMITS.fileNameBytes} bytes`;
  for (const part of name.split('/')) {
    if (part === '' || part === '.' || part === '..') return 'has an empty part, or one of dots';
    if (bytesOf(part) > LIMITS.fileNamePartBytes) return `has a part over ${LIMITS.fileNamePartBytes} bytes`;
  }
  return null;
}
