import { type BatonClient, BatonClientError } from '../../../shared/client/index.ts';
import { clearKept } from '../files/kept-files.ts';
import { removeHistory } from '../history/database.ts';
import { dropDrafts } from '../history/drafts.ts';
import { keptWords } from '../kept-words.ts';
import { dropKeys, keysOwner } from '../sealing/key-state.ts';
import { pushChoice } from '../service-worker/here.ts';
import type { SignedIn } from './entry.ts';
import { leaveBrowser } from './this-browser.ts';

/*
 * A sign-out removes what this browser keeps of the account. The account and its device are noted before the session ends,
 * so that the next start removes what is left if the page ends meanwhile.
 */
const NOTED = 'baton-signing-out/';
const keyOf = (account: string): string => NOTED + encodeURIComponent(account);

type Device = Pick<SignedIn, 'userId' | 'deviceId'>;

/** Notes that this device signs out. */
export const noteSigningOut = ({ userId, deviceId }: Device): void => keptWords.set(keyOf(userId), deviceId);

export const isSigningOut = ({ userId, deviceId }: Device): boolean => keptWords.get(keyOf(userId)) === deviceId;

/** Notes that this device stays, or that nothing of it is left. */
export function forgetSigningOut(device: Device): void {
  if (isSigningOut(device)) keptWords.set(keyOf(device.userId), null);
}

/** Ends the session of a device, which is noted unless the session certainly goes on. */
export async function endSession(client: Pick<BatonClient, 'signOut'>, device: Device): Promise<void> {
  noteSigningOut(device);
  try {
    await client.signOut();
  } catch (error) {
    if (!(error instanceof BatonClientError && error.outcome === 'unknown')) forgetSigningOut(device);
    throw error;
  }
}

/** Removes the history, the files, the drafts and, with `withKeys`, the keys. The next start tries again if some stay. */
export async function removeData(device: Device, { withKeys }: { withKeys: boolean }): Promise<void> {
  const { userId } = device;
  noteSigningOut(device);
  dropDrafts(userId);
  const removed = await Promise.allSettled([
    removeHistory(userId),
    clearKept(userId),
    withKeys && dropKeys().then((areGone) => areGone || Promise.reject(new Error('The keys stay'))),
  ]);
  if (removed.every(({ status }) => status === 'fulfilled')) forgetSigningOut(device);
}

/** Removes what is left of one device. Nobody is signed in now, or somebody else is. */
async function finish(device: Device, present: Device | null): Promise<void> {
  const kept = await pushChoice();
  if (present === null && kept?.account === device.userId) await leaveBrowser({ isExpired: false });
  // Another tab has removed everything, and the same user may have signed in since.
  if (!isSigningOut(device)) return;
  // Whoever is signed in now removed the keys of others at the start.
  const withKeys = present === null && [null, device.userId].includes(keysOwner());
  await removeData(device, { withKeys });
}

/** Removes at the start what is left of devices that signed out. `present`: the device that is signed in, or null. */
export async function finishSigningOut(present: Device | null): Promise<void> {
  for (const key of keptWords.keys(NOTED)) {
    const device = { userId: decodeURIComponent(key.slice(NOTED.length)), deviceId: keptWords.get(key) ?? '' };
    if (present?.userId !== device.userId) await finish(device, present);
    // This user has signed in again since.
    else if (present.deviceId !== device.deviceId) forgetSigningOut(device);
  }
}
