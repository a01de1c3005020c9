import {
  type Guest,
  isSignedAt,
  type ListPlace,
  type ListProblem,
  placeOf,
  readGuestList,
  type ReadGuests,
} from './guests.ts';
import type { Account, Member, Ring } from './ring.ts';

/** The newest list of guests that a device has taken. It never goes back to an older one. */
export interface GuestPin {
  /** The list as it was sent. */
  readonly text: string;
  /** Keys to which nothing is sealed again, because a newer list had others for the same guest. Newest first. */
  readonly replaced: readonly string[];
}

/** The guests by the newest list of those that a device knows and is shown. */
export interface NewestGuests {
  readonly pin: GuestPin | undefined;
  readonly guests: readonly Guest[];
  /** Who signed the newest list; null if no member of the ring did. */
  readonly signer: Member | null;
  /** The place of the newest list; null without one. */
  readonly place: ListPlace | null;
  /** The reason why the list that the service shows is not taken; null for none. */
  readonly problem: ListProblem | null;
}

/** The most replaced keys that are remembered. */
const MOST_REPLACED = 128;

/** Tells whether a list at this place is newer. Lists of an earlier version have no number, and so no order within a ring. */
const isNewer = (shown: ListPlace, known: ListPlace | null): boolean =>
  known === null ||
  shown.n > known.n ||
  (shown.n === known.n && (shown.number > known.number || (shown.number === 0 && known.number === 0)));

/** Reads a list; null if it lets nobody in: no member of the ring in force signed it, or it cannot be read. */
const readOrNull = (text: string, ring: Ring, account: Account): Promise<ReadGuests | null> =>
  readGuestList(text, ring, account).catch(() => null);

/**
 * Says why a list that lets nobody in is not taken; null if its signer has left the ring since, which blocks nothing else.
 * Only the rings that this device knows prove that.
 */
async function problemOf(
  text: string,
  known: ListPlace | null,
  { rings, account }: { rings: readonly Ring[]; account: Account },
): Promise<ListProblem | null> {
  const place = placeOf(text);
  if (place === null) return 'bad_guests';
  if (place.n > (rings.at(-1)?.body.n ?? 0)) return 'unknown_key';
  const ring = rings.find(({ body }) => body.n === place.n);
  if (ring !== undefined && !(await isSignedAt(text, ring, account))) return 'bad_guests';
  if (!isNewer(place, known)) return 'devices_disagree';
  return ring === undefined ? 'bad_guests' : null;
}

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
 * member of the ring in force has signed lets nobody in. If its signer has left, it blocks nothing else. `rings`: the rings
 * that this device knows, the one in force last.
 */
export async function newestGuests(
  pin: GuestPin | undefined,
  shown: string | null,
  rings: readonly Ring[],
  account: Account,
): Promise<NewestGuests> {
  const ring = rings.at(-1) as Ring;
  const known = pin === undefined ? null : await readOrNull(pin.text, ring, account);
  const place = pin === undefined ? null : placeOf(pin.text);
  const about = { pin, place, signer: known?.signer ?? null };
  const within = (guests: readonly Guest[] = [], { replaced }: Pick<GuestPin, 'replaced'> = pin ?? { replaced: [] }) =>
    guests.filter(({ enc }) => !replaced.includes(enc));
  if (shown === (pin?.text ?? null)) return { ...about, guests: within(known?.guests), problem: null };
  if (shown === null) return { ...about, guests: within(known?.guests), problem: 'devices_disagree' };
  const read = await readOrNull(shown, ring, account);
  if (read === null) {
    const problem = await problemOf(shown, place, { rings, account });
    if (problem === null) return { ...about, signer: null, guests: [], problem };
    return { ...about, guests: within(known?.guests), problem };
  }
  if (isNewer(read, place)) {
    const now = pinAfter(pin, known?.guests ?? [], shown, read);
    return { pin: now, place: read, signer: read.signer, guests: within(read.guests, now), problem: null };
  }
  // The store has lost the newer list, and another device may have let a guest in since. Guests that left are on the newer one.
  const guests = known === null ? [] : both(known.guests, read.guests);
  return { ...about, guests: within(guests), problem: 'devices_disagree' };
}
