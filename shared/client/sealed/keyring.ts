import type { KeyedAccount, KeyRecord, KeyStore } from './keys/key-store.ts';
import { aesKey } from './primitives/aes.ts';
import { hkdf } from './primitives/hkdf.ts';
import type { TextCrypto } from './primitives/text-crypto.ts';
import { type AccountKey, openAccountKeys } from './ring/account-keys.ts';
import { type KeysAnswer, KEPT_RINGS, lostAfter, pinRing, walkChain } from './ring/chain.ts';
import type { Guest, ListProblem } from './ring/guests.ts';
import { type GuestPin, newestGuests } from './ring/newest-guests.ts';
import {
  bothNamed,
  highestOf,
  keptNamed,
  type NamedRings,
  openNamed,
  type OtherRing,
  withNamed,
} from './ring/named-rings.ts';
import { isGone, memberOf, type Member, readRing, type Ring, type Signer } from './ring/ring.ts';
import { sealedError } from './sealed-error.ts';

/** The knowledge of a device at one moment: who belongs to the account, and its own keys. It does not change. */
export interface Keyring extends Signer {
  readonly account: KeyedAccount;
  /** Oldest first; the last one is in force. */
  readonly rings: readonly Ring[];
  readonly ring: Ring;
  /** The account keys, the one in force first; none for a guest. */
  readonly accountKeys: readonly AccountKey[];
  /**
   * Includes those that were removed, or whose time is over, because earlier content may be theirs. {@link keysOf} says who
   * is in.
   */
  readonly guests: readonly Guest[];
  /** The newest list of guests that this device has taken. */
  readonly guestPin?: GuestPin | undefined;
  /** That of the {@link KeyStore}. */
  readonly textCrypto?: TextCrypto | undefined;
  /** The highest ring number that anything genuine named. */
  readonly seen: number;
  /** The rings that members have named and that are not in `rings`. {@link disagreeing} says who they are. */
  readonly named?: NamedRings | undefined;
  /** Members that the service reported as removed or logged out. */
  readonly removed: ReadonlySet<string>;
  /** Other devices that it reported so: guests, devices without keys, and members of a ring that has not come. */
  readonly removedGuests?: ReadonlySet<string>;
}

/** The most removed devices that are remembered: as many as a ring has members. */
const MOST_REMOVED = 80;
/**
 * As many rings as a service keeps. A device that is further behind must be linked again, so no higher number is believed.
 */
const MOST_AHEAD = 1_024;

async function accountKeysOf(ring: Ring, signer: Signer, now: number): Promise<AccountKey[]> {
  if (memberOf(ring, signer.device_id) === null) return [];
  return openAccountKeys(ring, signer, now);
}

async function keyringOf(
  { textCrypto }: KeyStore,
  record: KeyRecord,
  rings: readonly Ring[],
  now: number,
): Promise<Keyring> {
  const { keys, account, seen, named } = record;
  const ring = rings.at(-1);
  if (account === null || ring === undefined) throw sealedError('unkeyed');
  const { device_id } = account;
  const accountKeys = await accountKeysOf(ring, { device_id, keys }, now);
  return {
    ...{ account, device_id, keys, rings, ring, accountKeys, seen },
    named: openNamed(named, rings),
    guests: [],
    guestPin: record.guestPin,
    textCrypto,
    removed: new Set(record.removed),
    removedGuests: new Set(record.removedGuests),
  };
}

/** Loads what the device knew last. Throws `unkeyed` if it is not linked yet, and `keys_lost` if its keys are gone. */
export async function loadKeyring(store: KeyStore, now: number): Promise<Keyring> {
  const record = await getRecord(store);
  const { account } = record;
  if (account === null) throw sealedError('unkeyed');
  const rings = await Promise.all(record.rings.map((text) => readRing(text, account)));
  return keyringOf(store, record, rings, now);
}

/** Returns the reported devices that this ring still has. The service never gives the id of a removed device again. */
const stillMembers = ({ removed = [], removedGuests = [] }: KeyRecord, ring: Ring): string[] =>
  [...new Set([...removed, ...removedGuests])].filter((id) => memberOf(ring, id) !== null);

/** Notes that a store could not save. They count as long as the program runs. */
const unsaved = new WeakMap<KeyStore, Pick<KeyRecord, 'seen' | 'named' | 'removed' | 'removedGuests'>>();

/** Loads the record, with the notes that the store could not save; null without one. */
async function findRecord(store: KeyStore): Promise<KeyRecord | null> {
  const [record, notes] = [await store.load(), unsaved.get(store)];
  if (record === null || record.account === null || notes === undefined) return record;
  const both = (field: 'removed' | 'removedGuests') => [
    ...new Set([...(record[field] ?? []), ...(notes[field] ?? [])]),
  ];
  const seen = Math.max(record.seen, notes.seen);
  const named = notes.named === undefined ? record.named : bothNamed(record.named, notes.named);
  return { ...record, seen, named, removed: both('removed'), removedGuests: both('removedGuests') };
}

async function getRecord(store: KeyStore): Promise<KeyRecord> {
  const record = await findRecord(store);
  if (record === null) throw sealedError('keys_lost');
  return record;
}

/** Saves a note of the record. A full disk, or a browser without room, does not undo it for this program. */
async function saveNote(store: KeyStore, record: KeyRecord): Promise<void> {
  try {
    await store.save(record);
    unsaved.delete(store);
  } catch {
    const { seen, named, removed, removedGuests } = record;
    unsaved.set(store, { seen, named, removed, removedGuests });
  }
}

/** Returns the content of a record besides the keys, which do not change. */
const contentOf = (record: KeyRecord): string => JSON.stringify({ ...record, keys: null });

/**
 * Returns the number of a newer ring that a member has named to an earlier version, which has not kept who said it; 0
 * without one. It ends when any member leaves, because that may be the one, and if it is too high to be true.
 */
function namedBefore({ seen, named }: KeyRecord, known: Ring | undefined, newest: Ring | undefined): number {
  const pinned = known?.body.n ?? 0;
  if (seen <= Math.max(pinned, highestOf(named)) || seen > pinned + MOST_AHEAD) return 0;
  const sigs = new Set(newest?.body.members.map(({ sig }) => sig));
  return known?.body.members.every(({ sig }) => sigs.has(sig)) === true ? seen : 0;
}

/** Keeps the rings of this account that the device uses from now on, and other changes with them. */
async function keep(
  store: KeyStore,
  record: KeyRecord,
  { rings, ...more }: Partial<Omit<KeyRecord, 'rings'>> & { rings: readonly Ring[] },
  now: number,
): Promise<Keyring> {
  const kept = rings.slice(-KEPT_RINGS);
  const newest = kept.at(-1);
  const all = { ...record, ...more };
  const { named, isFull } = keptNamed(all.named, kept);
  const pinned = rings.find(({ text }) => text === record.rings.at(-1));
  const known = Math.max(namedBefore(all, pinned, newest), highestOf(openNamed(named, kept)), newest?.body.n ?? 0);
  const seen = isFull ? Number.MAX_SAFE_INTEGER : known;
  const removed = newest === undefined ? [] : stillMembers(all, newest);
  const isAny = Object.keys(named).length > 0;
  const next = {
    ...{ ...all, rings: kept.map(({ text }) => text), seen, removed },
    named: isAny ? named : undefined,
  };
  const keyring = await keyringOf(store, next, kept, now);
  // While there is nothing new, a store without room does not stop reading and sealing.
  if (contentOf(record) !== contentOf(next)) {
    await store.save(next);
    unsaved.delete(store);
  } else if (unsaved.has(store)) await saveNote(store, next);
  return keyring;
}

/** Begins with the first ring of an account, which this device has made and the service has accepted. */
export function adoptFirstRing(store: KeyStore, account: KeyedAccount, text: string, now: number): Promise<Keyring> {
  return store.lock(async () => {
    const record = await getRecord(store);
    const rings = await walkChain([], [text], account);
    return keep(store, record, { rings, account, seen: 0, named: undefined, guestPin: undefined }, now);
  });
}

/** Begins with the ring that a grant names; `texts` are the rings that the service returns from that one on. */
export function adoptRing(
  store: KeyStore,
  { account, n, hash }: { account: KeyedAccount; n: number; hash: string },
  texts: readonly string[],
  now: number,
): Promise<Keyring> {
  return store.lock(async () => {
    const record = await getRecord(store);
    const { service, user_id } = account;
    const rings = await pinRing(texts, { service, user_id, n, hash });
    return keep(store, record, { rings, account, seen: 0, named: undefined, guestPin: undefined }, now);
  });
}

/** The result of a response of the service. */
export interface Taken {
  readonly keyring: Keyring;
  /** Rings that the service has lost: put them back, in this order. */
  readonly putBack: readonly string[];
  /** There are more rings than the response has: ask again, after `keyring.ring.body.n`. */
  readonly hasMore: boolean;
  /** The reason why the list of guests that the service shows is not taken; null for none. The newest known list counts. */
  readonly listProblem: ListProblem | null;
}

/**
 * Takes a response to `GET /api/keys`, and keeps the pin that results. Throws `devices_disagree` if the service shows
 * another chain than this device knows, or does not show the rings that members have named.
 */
export async function takeKeys(store: KeyStore, answer: KeysAnswer, now: number): Promise<Taken> {
  const taken = await takeAnswer(store, answer, now);
  if (!taken.hasMore) checkAgreement(taken.keyring);
  return taken;
}

/** Does as {@link takeKeys} does, even if members have named other rings. Nothing is sealed by such a keyring. */
export function takeAnswer(store: KeyStore, answer: KeysAnswer, now: number): Promise<Taken> {
  return store.lock(async () => {
    const record = await getRecord(store);
    const { account } = record;
    if (account === null) throw sealedError('unkeyed');
    const known = await Promise.all(record.rings.map((text) => readRing(text, account)));
    const rings = await walkChain(known, answer.rings, account);
    const newest = rings.at(-1)?.body.n ?? 0;
    const putBack = lostAfter(rings, answer.n);
    const hasMore = answer.n > newest;
    const ring = rings.at(-1);
    if (hasMore || ring === undefined) {
      return { keyring: await keep(store, record, { rings }, now), putBack, hasMore, listProblem: null };
    }
    const { guests, pin, problem } = await newestGuests(record.guestPin, answer.guests, rings, account);
    const keyring = await keep(store, record, { rings, guestPin: pin }, now);
    return { keyring: { ...keyring, guests }, putBack, hasMore, listProblem: problem };
  });
}

/** Tells whether a device is a guest that was removed, or whose time was over then. */
export const isOver = ({ ring, removedGuests }: Keyring, { device_id: id, until }: Guest, at: number): boolean =>
  until <= at || removedGuests?.has(id) === true || isGone(ring, id);

/** Returns the keys of a device for which content may be sealed at this time: a member, or a guest. */
export function keysOf(keyring: Keyring, id: string, now: number): Pick<Guest, 'enc' | 'sig'> | null {
  const guest = keyring.guests.find((each) => each.device_id === id && !isOver(keyring, each, now));
  return memberOf(keyring.ring, id) ?? guest ?? null;
}

/**
 * Notes that genuine content of a member named a ring which this device does not have: the cause of the error. That ring
 * has to be fetched before anything is sealed. If there is none, the member has to be linked again, or removed.
 */
export function noteSeen(store: KeyStore, keyring: Keyring, { sig, named: said }: OtherRing): Promise<Keyring> {
  return store.lock(async () => {
    const record = await findRecord(store);
    const named = withNamed(bothNamed(record?.named, keyring.named), sig, said);
    const seen = Math.max(record?.seen ?? 0, said.n);
    if (record !== null && named[sig] !== record.named?.[sig]) await saveNote(store, { ...record, seen, named });
    return { ...keyring, seen: Math.max(keyring.seen, said.n), named: openNamed(named, keyring.rings) };
  });
}

/**
 * Returns the members that name a ring which is not in the chain of this device: there is another chain, the service hides
 * rings, or the member is in other hands. This ends with that ring, when they are linked again, and when they are removed.
 */
export function disagreeing({ named, rings, ring }: Pick<Keyring, 'named' | 'rings' | 'ring'>): Member[] {
  const open = openNamed(named, rings);
  return ring.body.members.filter(({ sig }) => Object.hasOwn(open, sig));
}

/**
 * Tells whether a newer ring was named without a note of who named it: by an earlier version, or because there were too
 * many.
 */
const isBehind = ({ seen, ring, named }: Keyring): boolean => seen > Math.max(ring.body.n, highestOf(named));

/** Throws `devices_disagree` if a member names a ring which is not in the chain that was just fetched. */
export function checkAgreement(keyring: Keyring): void {
  if (disagreeing(keyring).length > 0 || isBehind(keyring)) throw sealedError('devices_disagree');
}

/**
 * Notes a `device:removed` with the reason `removed` or `logout`, for the time after a restart too: nothing is sealed until
 * there is a ring without the member, and nothing is sealed for the guest again. The ring that has the device may come
 * later.
 */
export function noteRemoved(store: KeyStore, keyring: Keyring, deviceId: string): Promise<Keyring> {
  // The list of guests or a newer ring may not be known yet, so a device that is not a member is kept apart.
  const field = memberOf(keyring.ring, deviceId) === null ? 'removedGuests' : 'removed';
  if (keyring[field]?.has(deviceId) === true) return Promise.resolve(keyring);
  return store.lock(async () => {
    const record = await findRecord(store);
    const all = [...new Set([...(record?.[field] ?? []), ...(keyring[field] ?? []), deviceId])].slice(-MOST_REMOVED);
    if (record !== null) await saveNote(store, { ...record, [field]: all });
    return { ...keyring, [field]: new Set(all) };
  });
}

/** Throws if nothing may be sealed now: another ring is in use, or a removed device still has the key. */
export function checkMaySeal(keyring: Keyring): void {
  const { ring, rings, named, removed } = keyring;
  const open = Object.values(openNamed(named, rings));
  if (open.some(({ n }) => n <= ring.body.n)) throw sealedError('devices_disagree');
  if (open.length > 0 || isBehind(keyring)) throw sealedError('unknown_key');
  if (ring.body.members.some(({ device_id }) => removed.has(device_id))) throw sealedError('rotation_due');
}

/** Each key for content is derived once. It is gone with the key of the account that it comes from. */
const derived = {
  msg: new WeakMap<AccountKey, Promise<CryptoKey>>(),
  clip: new WeakMap<AccountKey, Promise<CryptoKey>>(),
};

function deriveOnce(from: AccountKey, kind: 'msg' | 'clip'): Promise<CryptoKey> {
  const known = derived[kind].get(from);
  if (known !== undefined) return known;
  const key = hkdf(from.key, `baton/1 ${kind}`).then(aesKey);
  derived[kind].set(from, key);
  return key;
}

/** Returns the key of this epoch for one kind of content. Throws if this device does not have it, or no longer has it. */
export async function contentKey(
  { accountKeys, ring }: Keyring,
  epoch: number,
  kind: 'msg' | 'clip',
): Promise<CryptoKey> {
  const found = accountKeys.find((each) => each.epoch === epoch);
  if (found !== undefined) return deriveOnce(found, kind);
  throw sealedError(
    epoch > ring.body.epoch ? 'unknown_key' : accountKeys.length === 0 ? 'not_a_member' : 'key_retired',
  );
}
