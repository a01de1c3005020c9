import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Settings, writePrivately } from './settings.ts';

/*
 * A device without keys asks the service whether the account names it. If the account does not, that answer is kept
 * beside the session, so that the service is asked only once. It lies in another file than the keys, because only the
 * keys may get lost.
 */

type Place = Pick<Settings, 'folder'>;

const pathIn = ({ folder }: Place): string => join(folder, 'without-keys.json');

/** Tells whether this device is known to have had no keys. A file that cannot be read does not say so. */
export async function isKnownWithoutKeys(place: Place, deviceId: string): Promise<boolean> {
  try {
    const kept = JSON.parse(await readFile(pathIn(place), 'utf8')) as { device_id?: unknown } | null;
    return kept?.device_id === deviceId;
  } catch {
    return false;
  }
}

/** Keeps the answer that this device has no keys. */
export const noteWithoutKeys = (place: Place, deviceId: string): Promise<void> =>
  writePrivately(pathIn(place), { device_id: deviceId });

/** Drops the answer, because this device may get keys from now on. */
export const forgetWithoutKeys = (place: Place): Promise<void> => rm(pathIn(place), { force: true });
