import type { BatonClient } from '../../../shared/client/index.ts';
import { clearKept } from '../files/kept-files.ts';
import { removeHistory } from '../history/database.ts';
import { dropDrafts } from '../history/drafts.ts';
import { keptWords } from '../kept-words.ts';
import { dropKeys } from '../sealing/key-state.ts';
import { leaveBrowser } from './this-browser.ts';

/*
 * What this browser keeps of an account is removed when its user signs out. The account is noted before its session ends, so
 * that the next start removes what is left if the page ends meanwhile.
 */
const KEY = 'baton-signing-out';

/** Notes the account that signs out; null: nobody does. */
export const noteSigningOut = (account: string | null): void => keptWords.set(KEY, account);

export const isSigningOut = (account: string): boolean => keptWords.get(KEY) === account;

/** Ends the session of an account, which is noted unless the service refuses that. */
export async function endSession(client: Pick<BatonClient, 'signOut'>, account: string): Promise<void> {
  noteSigningOut(account);
  try {
    await client.signOut();
  } catch (error) {
    noteSigningOut(null);
    throw error;
  }
}

/** Removes the history, the files and the drafts of an account. The next start tries again if something cannot be removed. */
export async function removeData(account: string): Promise<void> {
  noteSigningOut(account);
  dropDrafts(account);
  const removed = await Promise.allSettled([removeHistory(account), clearKept(account)]);
  if (removed.every(({ status }) => status === 'fulfilled')) noteSigningOut(null);
}

/** Removes at the start what is left of an account that signed out. `present`: the account that is signed in, or null. */
export async function finishSigningOut(present: string | null): Promise<void> {
  const account = keptWords.get(KEY);
  if (account === null || account === present) return;
  // Whoever is signed in now has got rid of the keys and the pushes of others.
  if (present === null) await Promise.all([leaveBrowser({ isExpired: false }), dropKeys()]);
  await removeData(account);
}
