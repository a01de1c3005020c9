import { keptWords } from '../kept-words.ts';

/*
 * What was typed to a device and not sent yet: for each account and device, over a change of the thread, a reload and a closed
 * browser. Of two tabs the one that wrote last is right; the other one shows that, and writes nothing of its own for it.
 */

/** More than somebody types: what was pasted by mistake would fill the little room that a browser has for this. */
const MOST_CHARACTERS = 65_536;

const ofAccount = (account: string): string => `baton-draft/${encodeURIComponent(account)}/`;
const keyOf = (account: string, deviceId: string): string => ofAccount(account) + encodeURIComponent(deviceId);

/** Drafts that are too long to be kept, while the page is open. */
const long = new Map<string, string>();

export function draftOf(account: string, deviceId: string): string {
  const key = keyOf(account, deviceId);
  return long.get(key) ?? keptWords.get(key) ?? '';
}

/** An empty one is removed. */
export function keepDraft(account: string, deviceId: string, text: string): void {
  const key = keyOf(account, deviceId);
  const isLong = text.length > MOST_CHARACTERS;
  if (isLong) long.set(key, text);
  else long.delete(key);
  const kept = text === '' || isLong ? null : text;
  if (keptWords.get(key) !== kept) keptWords.set(key, kept);
}

export function dropDrafts(account: string): void {
  for (const key of keptWords.keys(ofAccount(account))) keptWords.set(key, null);
  long.clear();
}

/** Calls `take` with what another tab has written. Gives what ends it. */
export function onOtherDraft(account: string, deviceId: string, take: (text: string) => void): () => void {
  const key = keyOf(account, deviceId);
  const listen = ({ key: changed, newValue }: StorageEvent): void => {
    // Null: all was cleared.
    if (changed !== key && changed !== null) return;
    long.delete(key);
    take(newValue ?? '');
  };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}
