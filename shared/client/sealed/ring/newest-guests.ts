import { type Guest, type ListPlace, placeOf, readGuestList, type ReadGuests } from './guests.ts';
import type { Account, Member, Ring } from './ring.ts';

/** The newest list of guests that a device has taken. It never goes back to an older one. */
export interface GuestPin {
  /** The list as it was sent. */
  readonly text: string;
  /** Keys to which nothing is sealed any more: a newer list had others for the same guest. Newest first. */
  readonly replaced: readonly string[];
}

/** The guests by the newest list of those that a device knows and is shown. */
export interface NewestGuests {
  readonly pin: GuestPin | undefined;
  readonly guests: readonly Guest[];
  /** Who signed the newest list; null where no member of the ring did. */
  readonly signer: Member | null;
  /** The place of the newest list; null without one. */
  readonly place: ListPlace | null;
  /** The service shows an older list than this device knows, or another one of the same place. */
  readonly isOlder: boolean;
}

/** The most replaced keys that are remembered. */
const MOST_REPLACED = 128;

/** Lists of an earlier version have no number, and so no order within a ring. */
const isTaken = (shown: ListPlace, known: ListPlace | null): boolean =>
  known === null ||
  shown.n > known.n ||
  (shown.n === known.n && (shown.number > known.number || (shown.number === 0 && known.number === 0)));

/** Reads a list; null where it lets nobody in: no member signed it, or it cannot be read. */
const readOrNull = (text: string, ring: Ring, account: Account): Promise<ReadGuests | null> =>
  readGuestList(text, ring, account).catch(() => null);

/** Pins a newer list. Keys that it replaces never count again, because a device makes other keys each time. */
function pinAfter(before: GuestPin | undefined, known: readonly Guest[], text: string, read: ReadGuests): GuestPin {
  const earlier = before?.replaced ?? [];
  const now = new Map(read.guests.map(({ device_id, enc }) => [device_id, enc]));
  const isReplaced = ({ device_id: id, enc }: Guest): boolean => {
    const other = now.get(id) ?? enc;
    return other !== enc && !earlier.includes(other);
  };
  const all = new Set([...known.filter(isReplaced).map(({ enc }) => enc), ...earlier]);
  return { text, replaced: [...all].slice(0, MOST_REPLACED) };
}

/** Returns the guests of one list, and those of another list that are not on it. */
const both = (one: readonly Guest[], other: readonly Guest[]): Guest[] => [
  ...one,
  ...other.filter(({ device_id: id }) => one.every((each) => each.device_id !== id)),
];

/**
 * Compares the list that the service shows with the newest one that this device knows. The newer one counts. A list that no
 * member of the ring in force has signed lets nobody in, and blocks nothing else: its signer may have left.
 */
export async function newestGuests(
  pin: GuestPin | undefined,
  shown: string | null,
  ring: Ring,
  account: Account,
): Promise<NewestGuests> {
  const known = pin === undefined ? null : await readOrNull(pin.text, ring, account);
  const place = pin === undefined ? null : placeOf(pin.text);
  const about = { pin, place, signer: known?.signer ?? null };
  const within = (guests: readonly Guest[] = [], { replaced }: Pick<GuestPin, 'replaced'> = pin ?? { replaced: [] }) =>
    guests.filter(({ enc }) => !replaced.includes(enc));
  if (shown === (pin?.text ?? null)) return { ...about, guests: within(known?.guests), isOlder: false };
  if (shown === null) return { ...about, guests: within(known?.guests), isOlder: true };
  const read = await readOrNull(shown, ring, account);
  if (read === null) return { ...about, signer: null, guests: [], isOlder: false };
  if (isTaken(read, place)) {
    const now = pinAfter(pin, known?.guests ?? [], shown, read);
    return { pin: now, place: read, signer: read.signer, guests: within(read.guests, now), isOlder: false };
  }
  // The store has lost the newer list, and another device may have let a guest in since. Guests that left are on the newer one.
  const guests = known === null ? [] : both(known.guests, read.guests);
  return { ...about, guests: within(guests), isOlder: true };
}
