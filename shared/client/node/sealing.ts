import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GrantStore, KeptGrant, SealingStores } from '../sealing/api.ts';
import type { TakenTexts } from '../sealing/taken.ts';
import type { MakeRecordCipher } from '../sealed/content/records.ts';
import { fileKeys } from './keys.ts';
import { nodeRecordCipher } from './record-cipher.ts';
import { readIfThere, removeDrafts, replaceFile } from './replace-file.ts';
import { fileTaken } from './taken.ts';

/** Keeps an approval in a file that only its owner can read, until its ring is pinned. */
function fileGrant(path: string): GrantStore {
  return {
    async load() {
      const text = await readIfThere(path);
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
      await replaceFile(path, `${JSON.stringify(grant)}\n`);
    },
    async clear() {
      await rm(path, { force: true });
      await removeDrafts(path);
    },
  };
}

/**
 * Returns the stores of a program that seals: files in a folder, only for their owner. `recordCipher` makes sealed files
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
