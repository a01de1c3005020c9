import { keptWords } from '../kept-words.ts';

/*
 * Texts that were typed and not sent yet, for each account and device. They survive a change of the thread, a reload and a
 * closed browser. The tab that wrote last wins; the other one shows its text, and does not write it again.
 */

/** More than anybody types. A long text pasted by mistake would fill the little space that a browser has for this. */
const MOST_CHARACTERS = 65_536;

const ofAccount = (account: string): string => `baton-draft/${encodeURIComponent(account)}/`;
const keyOf = (account: string, deviceId: string): string => ofAccount(account) + encodeURIComponent(deviceId);

/** Drafts that are too long to be stored, kept while the page is open. */
const long = new Map<string, string>();

export function draftOf(account: string, deviceId: string): string {
  const key = keyOf(account, deviceId);
  return long.get(key) ?? keptWords.get(key) ?? '';
}

/** Keeps a draft, and removes an empty one. */
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

/** Calls `take` with the text that another tab has written. Returns a function that ends it. */
export function onOtherDraft(account: string, deviceId: string, take: (text: string) => void): () => void {
  const key = keyOf(account, deviceId);
  const listen = ({ key: changed, newValue }: StorageEvent): void => {
    // Null: the storage was cleared.
    if (changed !== key && changed !== null) return;
    long.delete(key);
    take(newValue ?? '');
  };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}
