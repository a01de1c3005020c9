import { LIMITS } from '../../../shared/contract/limits.ts';
import type { NewFile } from '../../../shared/contract/transfers.ts';

/** C0, DEL and C1; and the characters that reorder text, so that `exe.txt` is not `txt.exe` (Unicode TR 36, bidi overrides). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Plain ASCII names, of which only the parts need a check: each character is a byte. */
const PLAIN = /^[ -[\]-~]*$/;

/** Why a name is not one (contract, "Transfers"), or null. */
function flawOf(name: string): string | null {
  const isPlain = PLAIN.test(name);
  if (!isPlain && !name.isWellFormed()) return 'is not well-formed Unicode';
  if (!isPlain && name.includes('\\')) return 'holds a backslash';
  if (!isPlain && HOSTILE.test(name)) return 'holds a control character';
  const bytesOf = (text: string) => (isPlain ? text.length : Buffer.byteLength(text));
  if (bytesOf(name) > LIMITS.fileNameBytes) return `is over ${LIMITS.fileNameBytes} bytes`;
  for (const part of name.split('/')) {
    if (part === '' || part === '.' || part === '..') return 'has an empty part, or one of dots';
    if (bytesOf(part) > LIMITS.fileNamePartBytes) return `has a part over ${LIMITS.fileNamePartBytes} bytes`;
  }
  return null;
}

/** What is wrong with the files of a transfer, one entry a field; empty when nothing is. */
export function findFileFlaws(files: readonly NewFile[]): { path: string; message: string }[] {
  const flaws: { path: string; message: string }[] = [];
  let total = 0;
  for (const [index, { name, size, type }] of files.entries()) {
    const flaw = flawOf(name);
    if (flaw !== null) flaws.push({ path: `/body/files/${index}/name`, message: flaw });
    if (type !== undefined && HOSTILE.test(type)) {
      flaws.push({ path: `/body/files/${index}/type`, message: 'holds a control character' });
    }
    total += size;
  }
  if (!Number.isSafeInteger(total)) flaws.push({ path: '/body/files', message: 'is over 2^53-1 bytes in all' });
  return flaws.slice(0, 20);
}
