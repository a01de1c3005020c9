import { lstatSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Claim, makeClaim } from '../../shared/client/node.ts';
import { settle, type WatchMark } from './sending/settled.ts';
import { type Settings, writePrivately } from './settings.ts';

/** A transfer that this device has begun to send. The same command resumes it. */
export interface Unfinished {
  /** The key of files and receiver; the same for the same command on unchanged files. */
  key: string;
  transferId: string;
  to: string;
  /** The given paths, made absolute. */
  paths: string[];
  /** The stored standard input; removed with the entry. */
  spool: { path: string; name: string } | null;
  /** True: small files of folders go in archives. */
  packs?: boolean;
  /**
   * The key of its sealed files. If it is left out, they are not sealed. Anybody who has the key can read them, so the file
   * is private.
   */
  sealedKey?: string;
  /** True: the user has said that it goes without encryption. */
  isPlain?: boolean;
  /** The patterns of entries that are left out of folders. */
  excludes?: readonly string[];
  /** The watched folder that the file is from. */
  watch?: WatchMark;
  startedAt: number;
}

/** The record of a running command until all of it is offered, in case it is killed. */
export interface BegunSend {
  readonly id: string;
  readonly to: string;
  readonly toName: string;
  readonly paths: readonly string[];
  readonly spool: { path: string; name: string } | null;
  /** The piece that is being offered; the service may already have it. `key`: the key of its record. */
  readonly offering: { key: string; files: number; bytes: number; isLast: boolean } | null;
}

/** Returns the folder with the records of what this device sends. */
export const sendsFolderIn = ({ folder }: Pick<Settings, 'folder'>): string => join(folder, 'sends');

/** Longer than the service keeps a transfer. */
const KEPT_MS = 3 * 24 * 60 * 60_000;

export interface UnfinishedSends {
  list(): Promise<Unfinished[]>;
  /** Lists begun commands, including those of running programs. */
  listBegun(): Promise<BegunSend[]>;
  /** Claims a send; null: another program has it. `id`: of a transfer, or of a begun command. */
  claim(id: string): Claim | null;
  add(entry: Unfinished): Promise<void>;
  keepBegun(begun: BegunSend): Promise<void>;
  /** Removes the record, but not the stored standard input. */
  removeBegun(id: string): Promise<void>;
  /** Removes the record and the stored standard input. A file of a watched folder is dealt with then. */
  remove(transferId: string): Promise<void>;
  /** Removes the record of a transfer that the service lost. A file of a watched folder is sent again. */
  forget(transferId: string): Promise<void>;
}

const BEGUN = '.begun';

/** Keeps the sends of this device that have not ended, one file each, because several programs may send at once. */
export function makeUnfinishedSends(folder: string, fileNames: () => Promise<string[]>): UnfinishedSends {
  const pathOf = (transferId: string) => join(folder, `${transferId}.json`);
  const begunPathOf = (id: string) => join(folder, `${id}${BEGUN}`);

  async function read<T>(name: string): Promise<T[]> {
    try {
      return [JSON.parse(await readFile(join(folder, name), 'utf8')) as T];
    } catch {
      // The program that owns it has removed it meanwhile.
      return [];
    }
  }

  async function readAll<T>(ending: string): Promise<T[]> {
    const names = (await fileNames()).filter((name) => name.endsWith(ending));
    return (await Promise.all(names.map((name) => read<T>(name)))).flat();
  }

  async function forget({ transferId, spool }: Unfinished): Promise<void> {
    if (spool !== null) await rm(spool.path, { force: true });
    await rm(pathOf(transferId), { force: true });
  }

  /** Removes claims that a killed program left without a record. A running program touches its claim every few seconds. */
  async function removeOldClaims(): Promise<void> {
    const paths = (await fileNames()).filter((name) => name.endsWith('.claim')).map((name) => join(folder, name));
    const isOld = (path: string) =>
      Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > KEPT_MS;
    await Promise.all(paths.filter(isOld).map((path) => rm(path, { force: true })));
  }

  async function list(): Promise<Unfinished[]> {
    await removeOldClaims();
    const entries = await readAll<Unfinished>('.json');
    const old = entries.filter(({ startedAt }) => Date.now() - startedAt > KEPT_MS);
    await Promise.all(old.map(forget));
    return entries.filter((entry) => !old.includes(entry)).sort((a, b) => a.startedAt - b.startedAt);
  }

  return {
    list,
    listBegun: () => readAll<BegunSend>(BEGUN),
    claim: (id) => makeClaim(folder, id),
    async add(entry) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writePrivately(pathOf(entry.transferId), entry);
    },
    async keepBegun(begun) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writePrivately(begunPathOf(begun.id), begun);
    },
    removeBegun: (id) => rm(begunPathOf(id), { force: true }),
    async remove(transferId) {
      for (const entry of await read<Unfinished>(`${transferId}.json`)) {
        if (entry.watch !== undefined) await settle(folder, entry.watch);
        await forget(entry);
      }
    },
    async forget(transferId) {
      for (const entry of await read<Unfinished>(`${transferId}.json`)) await forget(entry);
    },
  };
}
