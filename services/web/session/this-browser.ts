import { closeAll } from '../push/shown.ts';
import { unsubscribeHere } from '../push/unsubscribing.ts';
import { claimKeys, dropKeys, keyState } from '../sealing/key-state.ts';
import { keepPushChoice, noteAccount, pushChoice } from '../service-worker/here.ts';
import { clearShares } from '../service-worker/shares.ts';

/** Shows the app of this account from now on, and ends what belonged to another one. */
export async function takeBrowser(account: string): Promise<void> {
  await noteAccount(account);
  await claimKeys(account);
  const kept = await pushChoice();
  await clearShares(account);
  if (kept === undefined || kept.account === account) return;
  await keepPushChoice({ ...kept, account, isWanted: false, told: null });
  void closeAll();
  await unsubscribeHere();
}

/**
 * Removes pushes, notifications and shares, because nobody is signed in now. A user whose session only expired gets
 * notifications again with the next sign-in. The keys of a guest go too, because its place ends with its session. Messages
 * that wait are then not sent unencrypted.
 */
export async function leaveBrowser({ isExpired }: { isExpired: boolean }): Promise<void> {
  if (isExpired && keyState.peek().isGuest) await dropKeys({ kind: 'lost', isGuest: true });
  await noteAccount(null);
  const kept = await pushChoice();
  const account = kept?.account ?? '';
  const none = { deviceId: '', headers: {}, preview: 'none' as const, isWanted: false };
  await keepPushChoice(isExpired && kept ? { ...kept, headers: {}, told: null } : { ...none, account, told: null });
  await Promise.allSettled([unsubscribeHere(), closeAll(), clearShares(null)]);
}
