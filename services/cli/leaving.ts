import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatonClient, SessionStore, SignedOutReason } from '../../shared/client/index.ts';
import type { Output } from './output.ts';
import { forgetErasedKeys, hadKeys, keysAreOf, noteErasedKeys, onSealingEnded, removeKeys } from './sealing.ts';
import { type Settings, writePrivately } from './settings.ts';
import { sendsFolderIn } from './unfinished.ts';

/*
 * The end of a session on this computer, by its user or because the device was removed. Its keys are of no more use, because
 * each sign-in makes a new device, and whoever finds them could open what was recorded. So they go with the session.
 *
 * The file `leaving.json` says that the keys have to go. A program that is killed leaves it, and the next command does the
 * rest:
 *
 *   `logout`:  leaving.json -> the service ends the session -> session.json -> keys, sends -> no leaving.json
 *   removed:   session.json -> leaving.json -> keys, sends -> no leaving.json
 *
 * The library removes the session file whatever the reason. After an expiry the keys have to stay. So a missing session file
 * proves nothing, and only the reason that the service gave begins an end. A command that is killed before it has
 * noted that its device was removed leaves the keys until the next `logout` or the next approval. That is the safer side:
 * with keys of an earlier sign-in nothing goes out unencrypted unasked.
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

/** Returns the end that a killed program has begun; null without one. A note that cannot be read must not cost the keys. */
export async function findLeaving(settings: Settings): Promise<Leaving | null> {
  try {
    return JSON.parse(await readFile(pathIn(settings), 'utf8')) as Leaving;
  } catch {
    return null;
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
    // Whoever had keys expects that nothing goes out unencrypted after the next sign-in either. The note comes first,
    // because a command that completes this later finds no keys that it could note.
    if (isWanted) await forgetErasedKeys(settings);
    else if (had) await noteErasedKeys(settings);
    await removeKeys({ settings });
    await eraseSends(settings);
  }
  await stay(settings);
  return had;
}

/** The parts of a command's context whose session may end. */
interface Ended {
  readonly settings: Settings;
  readonly session: SessionStore;
  readonly output: Pick<Output, 'note'>;
}

/**
 * Erases the keys when the device of a running command is removed, and says so. An expired session keeps its place in the
 * account for 90 days, and so do its keys: a broker that has lost its sessions must not cost every device its keys. The
 * returned function resolves when all of this is done.
 */
export function followEnd(
  { settings, session, output }: Ended,
  baton: BatonClient,
  deviceId: string | null,
): () => Promise<void> {
  let done = Promise.resolve();
  const end = async (): Promise<void> => {
    if ((await findLeaving(settings))?.isWanted) return;
    const leaving = { device_id: deviceId, isWanted: false };
    await beginLeaving(settings, leaving);
    const had = await completeLeaving(settings, leaving);
    const erased = had ? ' Its keys were erased from this computer.' : '';
    output.note(`This device was removed from the account, by another device or by the service.${erased}`);
  };
  const hear = (reason: SignedOutReason): void => {
    if (reason === 'revoked') done = done.then(end).catch(() => {});
  };
  baton.on('signed-out', hear);
  onSealingEnded(session, hear);
  return () => done;
}
