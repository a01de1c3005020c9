import { fileNameFlaw, HOSTILE_CHARACTERS } from '../../../shared/contract/vocabulary/file-names.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { NewFile } from '../../../shared/contract/modules/transfers.ts';

/** Returns what is wrong with the files of a transfer, one entry for each field; empty when nothing is. */
export function findFileFlaws(files: readonly NewFile[]): { path: string; message: string }[] {
  const flaws: { path: string; message: string }[] = [];
  let total = 0;
  for (const [index, { name, size, type }] of files.entries()) {
    const flaw = fileNameFlaw(name);
    if (flaw !== null) flaws.push({ path: `/body/files/${index}/name`, message: flaw });
    if (type !== undefined && HOSTILE_CHARACTERS.test(type)) {
      flaws.push({ path: `/body/files/${index}/type`, message: 'holds a control character' });
    }
    total += size;
  }
  if (total > LIMITS.fileBytes) {
    flaws.push({ path: '/body/files', message: `is over ${LIMITS.fileBytes} bytes in all` });
  }
  return flaws.slice(0, 20);
}
