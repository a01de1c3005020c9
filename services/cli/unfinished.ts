import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivately } from './settings.ts';

/** A transfer that this device has begun to send: the same command goes on with it. */
export interface Unfinished {
  /** What was asked to be sent to whom; the same for the same command on files that have not changed. */
  key: string;
  transferId: string;
  to: string;
  /** As they were given, absolute. */
  paths: string[];
  /** Standard input as it was kept; removed with the entry. */
  spool: { path: string; name: string } | null;
  /** Small files of folders go in archives. */
  packs?: boolean;
  startedAt: number;
}

/** Longer than the service keeps a transfer. */
const KEPT_MS = 3 * 24 * 60 * 60_000;

export interface UnfinishedSends {
  list(): Promise<Unfinished[]>;
  add(entry: Unfinished): Promise<void>;
  /** Also of what was kept of standard input. */
  remove(transferId: string): Promise<void>;
}

/** The sends of this device that have not ended, one file each: several programs may send at once. */
export function makeUnfinishedSends(folder: string, fileNames: () => Promise<string[]>): UnfinishedSends {
  const pathOf = (transferId: string) => join(folder, `${transferId}.json`);

  async function read(name: string): Promise<Unfinished[]> {
    try {
      return [JSON.parse(await readFile(join(folder, name), 'utf8')) as Unfinished];
    } catch {
      // Removed meanwhile by the program that it belongs to.
      return [];
    }
  }

  async function drop(entry: Unfinished): Promise<void> {
    if (entry.spool !== null) await rm(entry.spool.path, { force: true });
    await rm(pathOf(entry.transferId), { force: true });
  }

  async function list(): Promise<Unfinished[]> {
    const names = (await fileNames()).filter((name) => name.endsWith('.json'));
    const entries = (await Promise.all(names.map(read))).flat();
    const old = entries.filter(({ startedAt }) => Date.now() - startedAt > KEPT_MS);
    await Promise.all(old.map(drop));
    return entries.filter((entry) => !old.includes(entry)).sort((a, b) => a.startedAt - b.startedAt);
  }

  return {
    list,
    async add(entry) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writePrivately(pathOf(entry.transferId), entry);
    },
    async remove(transferId) {
      for (const entry of await read(`${transferId}.json`)) await drop(entry);
    },
  };
}
