import { isOver, type Keyring } from '../sealed/keyring.ts';
import { type Guest, hashOfGuests, readGuestList, signGuests } from '../sealed/ring/guests.ts';
import { memberOf } from '../sealed/ring/ring.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import { sealingError } from './problem.ts';
import { isCode, makeRingCalls } from './ring-calls.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** How often the list is signed, where another device was faster each time. */
const MOST_RACES = 8;

interface Parts {
  /** Walks to the newest ring. */
  current(): Promise<Keyring | null>;
}

/** Changes the list of guests, which stands beside the rings. A member signs it as a whole. */
export function makeGuestList(calls: SealingCalls, { current }: Parts) {
  const { fetchKeys, putGuests } = makeRingCalls(calls);

  /**
   * Returns the list that the service has. A list that no member signed, or that cannot be read, lets nobody in. Throws
   * `unknown_key` for a list of a ring that has come meanwhile: it may be genuine, and must not be replaced unread.
   */
  async function stored({ ring, account }: Keyring) {
    const answer = await fetchKeys(Math.max(0, ring.body.n - 1));
    if (answer === null) throw sealingError('keys_gone');
    const { guests: text } = answer;
    const nothing = { guests: [], signer: null };
    const unreadable = (error: unknown) => {
      if (isCode(error, 'unknown_key')) throw error;
      return nothing;
    };
    const read = text === null ? nothing : await readGuestList(text, ring, account).catch(unreadable);
    return { ...read, replaces: await hashOfGuests(text) };
  }

  /** Signs the list with these changes, and again where another device was faster. */
  async function sign(changed: (guests: readonly Guest[]) => readonly Guest[]): Promise<Keyring> {
    for (let races = 0; races < MOST_RACES; races += 1) {
      const keyring = await current();
      if (keyring === null || memberOf(keyring.ring, keyring.device_id) === null) throw sealedError('unkeyed');
      try {
        const { guests, replaces } = await stored(keyring);
        const now = calls.trustedNow();
        // A service may show an older list: the ring says who was removed since. What such a guest has sent can still be opened.
        const known = guests.map((guest) =>
          isOver(keyring, guest, now) ? { ...guest, until: Math.min(guest.until, now) } : guest,
        );
        const next = changed(known);
        await putGuests(await signGuests(keyring.ring, next, keyring, now), replaces);
        return { ...keyring, guests: next };
      } catch (error) {
        if (!isCode(error, 'keys_conflict') && !isCode(error, 'unknown_key')) throw error;
      }
    }
    throw sealedError('ring_moved');
  }

  return {
    /** Puts a guest on the list, in the place of an earlier one with the same id. */
    add: (guest: Guest): Promise<Keyring> =>
      sign((guests) => [...guests.filter(({ device_id: id }) => id !== guest.device_id), guest]),

    /** Ends the time of a guest at another moment. It does nothing where the guest was removed, or its time is over. */
    endAt: (deviceId: string, until: number): Promise<Keyring> =>
      sign((guests) => {
        const now = calls.trustedNow();
        return guests.map((each) => (each.device_id === deviceId && each.until > now ? { ...each, until } : each));
      }),

    /** Takes a guest off the list again, to whom the service refused the session. */
    takeBack: (deviceId: string): Promise<Keyring> =>
      sign((guests) => guests.filter(({ device_id: id }) => id !== deviceId)),

    /**
     * Signs the list anew where one of these members has signed it, before they leave the ring. Without that, the other guests
     * would be out with them.
     */
    async keepWithout(keyring: Keyring, leaving: readonly string[]): Promise<void> {
      const { signer } = await stored(keyring);
      if (signer !== null && leaving.includes(signer.device_id)) await sign((guests) => guests);
    },
  };
}

export type GuestList = ReturnType<typeof makeGuestList>;
