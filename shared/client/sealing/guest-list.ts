import { isOver, type Keyring } from '../sealed/keyring.ts';
import type { KeysAnswer } from '../sealed/ring/chain.ts';
import { type Guest, hashOfGuests, placeOf, signGuests } from '../sealed/ring/guests.ts';
import { newestGuests } from '../sealed/ring/newest-guests.ts';
import { memberOf } from '../sealed/ring/ring.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import { sealingError } from './problem.ts';
import { isCode, makeRingCalls } from './ring-calls.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** How often the list is signed if another device is faster each time. */
const MOST_RACES = 8;

interface Parts {
  /** Walks to the newest ring. */
  current(): Promise<Keyring | null>;
  /** Does so even if members name other rings. */
  known(): Promise<Keyring | null>;
  /** Takes a response of the service. */
  take(answer: KeysAnswer): Promise<Keyring>;
}

/** Changes the list of guests, which is separate from the rings. A member signs it as a whole. */
export function makeGuestList(calls: SealingCalls, { current, known, take }: Parts) {
  const { fetchKeys, putGuests } = makeRingCalls(calls);

  /**
   * Returns the newest list of those that the service shows and this device knows, and the hash of the one that is there. Throws
   * `unknown_key` for a list of a ring that has come meanwhile: it may be genuine, and must not be replaced unread.
   */
  async function stored({ ring, rings, account, guestPin }: Keyring) {
    const answer = await fetchKeys(Math.max(0, ring.body.n - 1));
    if (answer === null) throw sealingError('keys_gone');
    const { guests: shown } = answer;
    if (shown !== null && (placeOf(shown)?.n ?? 0) > ring.body.n) throw sealedError('unknown_key');
    return { ...(await newestGuests(guestPin, shown, rings, account)), replaces: await hashOfGuests(shown) };
  }

  /** Signs the newest list with these changes, and puts it. */
  async function signOnce(keyring: Keyring, changed: (guests: readonly Guest[]) => readonly Guest[]): Promise<Keyring> {
    if (memberOf(keyring.ring, keyring.device_id) === null) throw sealedError('unkeyed');
    const { guests, place, replaces } = await stored(keyring);
    const now = calls.trustedNow();
    // The ring says who was removed since the list was signed. What such a guest has sent can still be opened.
    const ended = guests.map((guest) =>
      isOver(keyring, guest, now) ? { ...guest, until: Math.min(guest.until, now) } : guest,
    );
    const text = await signGuests(keyring.ring, changed(ended), keyring, now, place);
    await putGuests(text, replaces);
    return take({ rings: [], n: keyring.ring.body.n, guests: text });
  }

  /** Signs the list with these changes, and again if another device was faster. `check` throws if it must not. */
  async function sign(
    changed: (guests: readonly Guest[]) => readonly Guest[],
    check?: (keyring: Keyring) => void,
    read = current,
  ): Promise<Keyring> {
    for (let races = 0; races < MOST_RACES; races += 1) {
      const keyring = await read();
      if (keyring === null) throw sealedError('unkeyed');
      check?.(keyring);
      try {
        return await signOnce(keyring, changed);
      } catch (error) {
        if (!isCode(error, 'keys_conflict') && !isCode(error, 'unknown_key')) throw error;
      }
    }
    throw sealedError('ring_moved');
  }

  return {
    /** Puts a guest on the list, in the place of an earlier one with the same id. */
    add: (guest: Guest, check?: (keyring: Keyring) => void): Promise<Keyring> =>
      sign((guests) => [...guests.filter(({ device_id: id }) => id !== guest.device_id), guest], check),

    /**
     * Ends the time of a guest at another moment. It does nothing if the guest was removed, or its time is over. The guest
     * stays on the list: an older list with a later end, which the service may show, does not count beside it.
     */
    endAt: (deviceId: string, until: number): Promise<Keyring> =>
      sign((guests) => {
        const now = calls.trustedNow();
        return guests.map((each) => (each.device_id === deviceId && each.until > now ? { ...each, until } : each));
      }),

    /**
     * Puts the newest known list in the place of one that is not taken, such as an older one after a failover of the store.
     * Another device may have done so. It does nothing if a ring has to come first.
     */
    async putBack(keyring: Keyring): Promise<void> {
      await signOnce(keyring, (guests) => guests).catch((error: unknown) => {
        if (!isCode(error, 'keys_conflict') && !isCode(error, 'unknown_key')) throw error;
      });
    },

    /**
     * Signs the list again if one of these members has signed it, before its keys leave the ring. Without that, the other
     * guests would be out with them.
     */
    async keepWithout(keyring: Keyring, leaving: readonly string[]): Promise<void> {
      const { signer } = await stored(keyring);
      if (signer !== null && leaving.includes(signer.device_id)) await sign((guests) => guests, undefined, known);
    },
  };
}

export type GuestList = ReturnType<typeof makeGuestList>;
