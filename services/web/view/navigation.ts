import { signal } from '@preact/signals';

/** A place in the app, which follows the `#` of the address, because the service serves one page. */
export type Place =
  | { name: 'home' }
  | { name: 'device'; id: string; at?: string }
  | { name: 'clipboard' | 'add' | 'settings' | 'search' | 'send' | 'transfers' | 'words' }
  /** `isInvited`: the device has scanned a code of this tab, and shows digits. */
  | { name: 'approve'; link: string; isInvited: boolean }
  | { name: 'share'; id: string }
  /** The page of a device. */
  | { name: 'about'; id: string }
  /** A message or a transfer in any thread: the target of a notification. */
  | { name: 'item'; id: string }
  | { name: 'nowhere' };

const PLAIN = ['clipboard', 'add', 'settings', 'search', 'send', 'transfers', 'words'] as const;

function placeOf(hash: string): Place {
  const [name = '', id = '', at = ''] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decode);
  if (name === '') return { name: 'home' };
  const plain = PLAIN.find((one) => one === name);
  if (plain !== undefined) return { name: plain };
  if (id === '') return { name: 'nowhere' };
  if (name === 'device') return { name, id, ...(at !== '' && { at }) };
  if (name === 'approve') return { name, link: id, isInvited: at === 'invited' };
  if (name === 'share' || name === 'item' || name === 'about') return { name, id };
  return { name: 'nowhere' };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const hrefOf = (...parts: string[]): string => `#/${parts.map(encodeURIComponent).join('/')}`;

export const place = signal<Place>(placeOf(location.hash));
addEventListener('hashchange', () => {
  place.value = placeOf(location.hash);
});

export function go(...parts: string[]): void {
  location.hash = hrefOf(...parts);
}

/** Goes to a place without a way back, such as from a link that was used. */
export function goInstead(...parts: string[]): void {
  location.replace(hrefOf(...parts));
}
