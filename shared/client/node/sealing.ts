import { appendFile, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { GrantStore, KeptGrant, SealingStores } from '../sealing/api.ts';
import type { TakenTexts } from '../sealing/taken.ts';
import type { MakeRecordCipher } from '../sealed/content/records.ts';
import { fileKeys } from './keys.ts';
import { nodeRecordCipher } from './record-cipher.ts';

const OWNER_ALONE = 0o600;

async function readOr(path: string, without: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return without;
    throw error;
  });
}

/** Keeps an approval in a file that only its owner can read, until its ring is pinned. */
function fileGrant(path: string): GrantStore {
  return {
    async load() {
      const text = await readOr(path, '');
      if (text === '') return null;
      try {
        const { request_id, sealed, secret } = JSON.parse(text) as KeptGrant;
        return [request_id, sealed, secret].every((each) => typeof each === 'string')
          ? { request_id, sealed, secret }
          : null;
      } catch {
        return null;
      }
    },
    async save(grant) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const written = `${path}.${randomUUID()}`;
      try {
        await writeFile(written, `${JSON.stringify(grant)}\n`, { mode: OWNER_ALONE, flush: true, flag: 'wx' });
        await rename(written, path);
      } finally {
        await rm(written, { force: true });
      }
    },
    clear: () => rm(path, { force: true }),
  };
}

/** The line of one text: `m SENDER:ID MESSAGE N`, or `m ID MESSAGE N` of an earlier version; `c DEVICE T`. A line that a crash cut off does not match. */
const LINE = /^(?:m ((?:[\w-]{1,64}:)?[\w-]{22}) (\S{1,64}) (\d+)|c ([\w-]{1,64}) (\d+))$/gm;

/** Keeps the texts that were shown, in a file to which any number of processes add. */
function fileTaken(path: string): TakenTexts {
  async function add(line: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'a', OWNER_ALONE);
    try {
      // The line feed at the front ends a line that a crash cut off.
      await appendFile(file, `\n${line}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }
  const lines = async () => [...(await readOr(path, '')).matchAll(LINE)];
  return {
    async messageOf(id) {
      const found = (await lines()).find((line) => line[1] === id);
      return found === undefined ? null : { messageId: found[2] as string, n: Number(found[3]) };
    },
    addMessage: (id, messageId, n) => add(`m ${id} ${messageId} ${n}`),
    async clipboardOf(deviceId) {
      const times = (await lines()).filter((line) => line[4] === deviceId).map((line) => Number(line[5]));
      return Math.max(0, ...times);
    },
    addClipboard: (deviceId, t) => add(`c ${deviceId} ${t}`),
  };
}

/**
 * Returns the stores of a program that seals: files in a folder, for their owner alone. `recordCipher` makes sealed files
 * faster.
 */
export function sealingFiles(
  folder: string,
): SealingStores & { readonly taken: TakenTexts; readonly recordCipher: MakeRecordCipher } {
  return {
    keys: fileKeys(join(folder, 'keys.json')),
    asking: fileKeys(join(folder, 'asking-keys.json')),
    grant: fileGrant(join(folder, 'grant.json')),
    recordCipher: nodeRecordCipher,
    taken: fileTaken(join(folder, 'shown')),
  };
}
