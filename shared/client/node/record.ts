import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { codeOf } from './places.ts';

/** Which files of a transfer are stored, and where, for a process that goes on with it. */
export interface StoredRecord {
  /** Of that file, where it is whole; a pack is at several places. */
  find(index: number): Promise<readonly string[] | null>;
  /** At once: what is fetched next is asked for after it, and would wait for other packs that are unpacked meanwhile. */
  add(index: number, paths: readonly string[]): void;
}

type Line = [index: number, ...paths: string[]];

async function read(path: string): Promise<Map<number, string[]>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  // What follows the last end of a line was cut off with the process.
  const lines = text.split('\n').slice(0, -1);
  return new Map(
    lines.map((line) => {
      const [index, ...paths] = JSON.parse(line) as Line;
      return [index, paths];
    }),
  );
}

export function makeStoredRecord(path: string): StoredRecord {
  let known: Promise<Map<number, string[]>> | null = null;
  return {
    async find(index) {
      known ??= read(path);
      return (await known).get(index) ?? null;
    },
    add: (index, paths) => appendFileSync(path, `${JSON.stringify([index, ...paths])}\n`),
  };
}
