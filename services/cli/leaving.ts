import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatonClient, SessionStore, SignedOutReason } from '../../shared/client/index.ts';
import { fileSession } from '../../shared/client/node.ts';
import type { Output } from './output.ts';
import { hadKeys, keysAreOf, noteErasedKeys, removeKeys } from './sealing.ts';
import { type Settings, writePrivately } from './settings.ts';
import { sendsFolderIn } from './unfinished.ts';

/*
 * The end of a session on this computer, by its user or because the device was removed. Its keys are of no more use, because
 * each sign-in makes a new device, and whoever finds them could open what was recorded. So they go with the session.
 *
 * The file `leaving.json` is there from the first step to the last. A program that is killed leaves it, and the next
 * command does the rest:
 *
 *   leaving.json -> the service ends the session (only `logout`) -> session.json -> keys, sends -> no leaving.json
 */

interface Leaving {
  /** The device whose session ends. */
  readonly device_id: string | null;
  /** True: the user wants it, so the service is told. */
  readonly isWanted: boolean;
}

const pathIn = ({ folder }: Settings): string => join(folder, 'leaving.json');

/** The records of interrupted sends with the keys of sealed files, and stored standard input. */
const OF_SENDS = /\.(?:json|begun|input)$/;

async function eraseSends(settings: Settings): Promise<void> {
  const folder = sendsFolderIn(settings);
  const names = await readdir(folder).catch(() => []);
  await Promise.all(names.filter((name) => OF_SENDS.test(name)).map((name) => rm(join(folder, name), { force: true })));
}

/** Returns the end that a killed program has begun; null without one. A file that was cut off says no device. */
export async function findLeaving(settings: Settings): Promise<Leaving | null> {
  if (!existsSync(pathIn(settings))) return null;
  try {
    return JSON.parse(await readFile(pathIn(settings), 'utf8')) as Leaving;
  } catch {
    return { device_id: null, isWanted: false };
  }
}

/** Notes that the session of this device ends. A full disk has no room for that, and then nobody completes a killed end. */
export async function beginLeaving(settings: Settings, leaving: Leaving): Promise<void> {
  await writePrivately(pathIn(settings), leaving).catch(() => {});
}

/** The user has interrupted the sign-out, or it cannot reach its service: the device stays signed in. */
export const stay = (settings: Settings): Promise<void> => rm(pathIn(settings), { force: true });

/** Erases the secrets of a device whose session is gone. Keys of a later sign-in stay. */
export async function completeLeaving(settings: Settings, { device_id: id, isWanted }: Leaving): Promise<boolean> {
  const isOwn = await keysAreOf(settings, id);
  const had = isOwn && (await hadKeys(settings).catch(() => true));
  if (isOwn) {
    await removeKeys({ settings });
    await eraseSends(settings);
    // Whoever had keys expects that nothing goes out unencrypted after the next sign-in either.
    if (had && !isWanted) await noteErasedKeys(settings);
  }
  await stay(settings);
  return had;
}

/** Keeps the session of this device. When it is removed, the note that it ends is there first. */
export function sessionOf(settings: Settings): SessionStore {
  const file = fileSession(settings.sessionPath);
  return {
    ...file,
    async clear() {
      if ((await findLeaving(settings)) === null) {
        // A session that cannot be read is removed too.
        const known = await Promise.resolve(file.load()).catch(() => null);
        await beginLeaving(settings, { device_id: known?.device?.device_id ?? null, isWanted: false });
      }
      await file.clear();
    },
  };
}

/**
 * Erases the keys when the session of a running command ends, and says so. An expired session keeps its place in the account
 * for 90 days, and so do its keys: a broker that has lost its sessions must not cost every device its keys. The returned
 * function resolves when all of this is done.
 */
export function followEnd(
  { settings, output }: { settings: Settings; output: Pick<Output, 'note'> },
  baton: BatonClient,
): () => Promise<void> {
  let done = Promise.resolve();
  const end = async (reason: SignedOutReason): Promise<void> => {
    if (reason === 'expired') return stay(settings);
    const leaving = await findLeaving(settings);
    if (leaving === null || leaving.isWanted) return;
    const had = await completeLeaving(settings, leaving);
    const erased = had ? ' Its keys were erased from this computer.' : '';
    output.note(`This device was removed from the account, by another device or by the service.${erased}`);
  };
  baton.on('signed-out', (reason) => {
    done = end(reason).catch(() => {});
  });
  return () => done;
}
