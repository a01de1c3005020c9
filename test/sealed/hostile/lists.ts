import { memberOf } from '../../../shared/client/sealed/ring/ring.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import type { Guest } from '../../../shared/client/sealed/ring/guests.ts';
import type { AccountName } from './attacker.ts';
import { isSignedBy, type Party } from './party.ts';
import type { HostileServer } from './hostile-server.ts';

/** A list of guests, as the judge reads it. */
export interface List {
  readonly text: string;
  readonly n: number;
  readonly number: number;
  readonly guests: readonly Guest[];
}

export function listOf(text: string): List {
  const list = JSON.parse(Buffer.from(text.split('.')[0] ?? '', 'base64url').toString()) as Omit<List, 'text'>;
  return { ...list, text };
}

const isNewer = (one: List, other: List | undefined): boolean =>
  other === undefined || one.n > other.n || (one.n === other.n && one.number > other.number);

/**
 * The judge's knowledge of the lists that each device has taken: the newest genuine one that it was shown when it went on
 * without a complaint, or has put itself. It asks neither the library nor what the device keeps.
 */
export function makeLists({ server, account }: { server: HostileServer; account: AccountName }) {
  const newest = new Map<string, List>();

  const isGenuine = (text: string, { ring }: Keyring): boolean =>
    ring.body.members.some(({ sig }) => isSignedBy(sig, 'baton/1 guests', account, text));

  /** Returns the genuine lists that a device was shown. */
  const shownTo = (id: string): List[] =>
    [...(server.listsOf.get(id) ?? [])].filter((text) => server.lists.includes(text)).map(listOf);

  return {
    /** Notes what a device was shown that has its keys in use now. */
    note({ id }: Party, keyring: Keyring): void {
      const text = server.listOf.get(id) ?? null;
      // A spoilt list is in no device's hands as a list that some device has signed.
      if (text === null || !server.lists.includes(text) || !isGenuine(text, keyring)) return;
      const list = listOf(text);
      if (list.n <= keyring.ring.body.n && isNewer(list, newest.get(id))) newest.set(id, list);
    },

    /**
     * Returns what the lists say of a guest that the device can have taken last: the newest one that is noted, and newer
     * ones that it was shown. `null`: that list does not have the guest. The result is empty if nothing is known, such as
     * of a list whose signer has left.
     */
    entriesOf({ id }: Party, keyring: Keyring, guest: string): (Guest | null)[] {
      const list = newest.get(id);
      if (list === undefined || !isGenuine(list.text, keyring) || memberOf(keyring.ring, guest) !== null) return [];
      return [list, ...shownTo(id).filter((each) => !isNewer(list, each))].map(
        ({ guests }) => guests.find(({ device_id }) => device_id === guest) ?? null,
      );
    },

    /**
     * Returns the guest, if any, whose end a device postpones with this list. The newest list that the device has taken has
     * the same keys with an earlier end, and no newer list that it was shown has this end: only a user lets a guest in for
     * longer.
     */
    prolonged({ id }: Pick<Party, 'id'>, text: string): string | null {
      const list = newest.get(id);
      const known = list?.guests ?? [];
      const others = shownTo(id)
        .filter((each) => isNewer(each, list))
        .flatMap(({ guests }) => guests);
      const isLater = ({ device_id, enc, until }: Guest) => {
        const isSame = (each: Guest) => each.device_id === device_id && each.enc === enc;
        const hasSaid = others.some((each) => isSame(each) && each.until >= until);
        return !hasSaid && known.some((each) => isSame(each) && each.until < until);
      };
      return listOf(text).guests.find(isLater)?.device_id ?? null;
    },

    /** Finds the newest genuine list on which a guest has a later end than on the newest one that the device has taken. */
    beforeEnd({ id }: Party, guest: string): string | null {
      const known = newest.get(id)?.guests.find(({ device_id }) => device_id === guest);
      const isBefore = ({ guests }: List) =>
        guests.some((each) => each.device_id === guest && each.enc === known?.enc && each.until > known.until);
      return server.lists.findLast((text) => isBefore(listOf(text))) ?? null;
    },

    /** Finds a genuine list that has other keys of a guest than the newest one that the device has taken. */
    olderThan({ id }: Party, guest: string): string | null {
      const known = newest.get(id);
      const enc = known?.guests.find(({ device_id }) => device_id === guest)?.enc;
      const isOther = ({ guests }: List) => guests.some((each) => each.device_id === guest && each.enc !== enc);
      return server.lists.findLast((text) => enc !== undefined && isOther(listOf(text))) ?? null;
    },

    /** A device that is linked again begins again. */
    forget: ({ id }: Party): void => void newest.delete(id),
  };
}

export type Lists = ReturnType<typeof makeLists>;
