import type { KeyedAccount } from '../sealed/keys/key-store.ts';
import type { KeysAnswer } from '../sealed/ring/chain.ts';
import { readGuestList } from '../sealed/ring/guests.ts';
import { memberOf, readRing } from '../sealed/ring/ring.ts';

/**
 * Tells whether the newest ring of the service, or its list of guests, names a device whose own keys are gone. Without keys
 * nothing proves either. A list that cannot be read names nobody.
 */
export async function isNamed({ rings, guests }: KeysAnswer, account: KeyedAccount, now: number): Promise<boolean> {
  const { device_id: own } = account;
  const newest = rings.at(-1);
  if (newest === undefined) return false;
  const ring = await readRing(newest, account);
  if (memberOf(ring, own) !== null) return true;
  const list = guests === null ? null : await readGuestList(guests, ring, account).catch(() => null);
  return list !== null && list.guests.some(({ device_id: id, until }) => id === own && until > now);
}
