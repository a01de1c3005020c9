import { pointIn } from '../keys/device-keys.ts';
import type { Bytes } from '../primitives/bytes.ts';
import { toBase64url, utf8 } from '../primitives/bytes.ts';
import { sha256 } from '../primitives/hkdf.ts';
import { sealedError } from '../sealed-error.ts';
import { OLDER_MS } from './account-keys.ts';
import {
  type Account,
  isGone,
  jsonIn,
  type Member,
  type Ring,
  signBytes,
  type Signer,
  signerOf,
  splitSigned,
} from './ring.ts';

/** A device without an account key. Content for it is sealed only to it. */
export interface Guest {
  readonly device_id: string;
  readonly enc: string;
  readonly sig: string;
  /** Unix milliseconds. */
  readonly until: number;
}

/** The place of a list among all lists of the account: a list of a later ring, or with a higher number, is newer. */
export interface ListPlace {
  /** The ring at which it was signed. */
  readonly n: number;
  /** One more than that of the list that it replaced, at the same ring. A list of an earlier version has none, which is 0. */
  readonly number: number;
}

/** The guests of an account at the ring `n`. */
export interface GuestList {
  readonly n: number;
  readonly number?: number;
  readonly guests: readonly Guest[];
}

/** A list of guests that was read. */
export interface ReadGuests extends ListPlace {
  /** Includes those whose time is over, because their keys prove earlier content. */
  readonly guests: readonly Guest[];
  readonly signer: Member;
}

/** Why the list of guests that a service shows is not taken: an older one, one that nobody signed, or one of a later ring. */
export type ListProblem = 'devices_disagree' | 'bad_guests' | 'unknown_key';

const LABEL = 'baton/1 guests';
const MOST_GUESTS = 64;

function isGuest(value: unknown): value is Guest {
  if (typeof value !== 'object' || value === null) return false;
  const { device_id, enc, sig, until } = value as Record<string, unknown>;
  const hasId = typeof device_id === 'string' && /^[\w-]{1,64}$/.test(device_id);
  return hasId && pointIn(enc) !== null && pointIn(sig) !== null && Number.isSafeInteger(until);
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function listIn(bytes: Bytes): Required<GuestList> | null {
  const value = jsonIn(bytes) as { n?: unknown; number?: unknown; guests?: unknown } | null | undefined;
  if (typeof value !== 'object' || value === null || !Number.isSafeInteger(value.n)) return null;
  const { number = 0 } = value;
  if (!isCount(number)) return null;
  if (!Array.isArray(value.guests) || value.guests.length > MOST_GUESTS || !value.guests.every(isGuest)) return null;
  const { guests } = value;
  const { size } = new Set(guests.flatMap(({ device_id, enc, sig }) => [`id ${device_id}`, enc, sig]));
  return size === guests.length * 3 ? { n: value.n as number, number, guests } : null;
}

/** Returns each device once, as the entry with the latest end has it. */
function distinct(guests: readonly Guest[]): Guest[] {
  const latestFirst = guests.toSorted((one, other) => other.until - one.until);
  return latestFirst.filter(({ device_id: id }, at) => latestFirst.findIndex((each) => each.device_id === id) === at);
}

/** Returns the place of the list that replaces the one at this place; null: the first list. */
const placeAfter = (n: number, after: ListPlace | null): ListPlace => ({
  n,
  number: after?.n === n ? after.number + 1 : 1,
});

/**
 * Signs the list of guests that replaces the one at the place `after`. A guest whose time is over stays for 8 days, because
 * what it sent may be opened later; it makes room for others.
 */
export function signGuests(
  { body }: Ring,
  guests: readonly Guest[],
  { keys }: Signer,
  now: number,
  after: ListPlace | null = null,
): Promise<string> {
  const all = distinct(guests).filter(({ until }) => until > now - OLDER_MS);
  if (all.filter(({ until }) => until > now).length > MOST_GUESTS) return Promise.reject(sealedError('ring_full'));
  const list = { ...placeAfter(body.n, after), guests: all.slice(0, MOST_GUESTS) };
  return signBytes(LABEL, body, keys, utf8(JSON.stringify(list)));
}

/**
 * Reads the guests that a member of the ring in force has signed. Throws `unknown_key` for a list that names a newer ring than
 * the known one: fetch the rings first.
 */
export async function readGuestList(text: string, ring: Ring, account: Account): Promise<ReadGuests> {
  const split = splitSigned(text);
  const list = split === null ? null : listIn(split[0]);
  if (split === null || list === null) throw sealedError('bad_ring');
  if (list.n > ring.body.n) throw sealedError('unknown_key');
  const signer = await signerOf(LABEL, account, split, ring.body.members);
  if (signer === null) throw sealedError('wrong_signer');
  const members = new Set(ring.body.members.flatMap(({ device_id, enc, sig }) => [`id ${device_id}`, enc, sig]));
  const isApart = ({ device_id, enc, sig }: Guest) => ![`id ${device_id}`, enc, sig].some((each) => members.has(each));
  return { n: list.n, number: list.number, guests: list.guests.filter(isApart), signer };
}

/** Tells whether a member of this ring signed the list. */
export async function isSignedAt(text: string, { body }: Ring, account: Account): Promise<boolean> {
  const split = splitSigned(text);
  return split !== null && (await signerOf(LABEL, account, split, body.members)) !== null;
}

/** Returns the place that a list claims. It does not check who signed the list. */
export function placeOf(text: string): ListPlace | null {
  const [bytes] = splitSigned(text) ?? [];
  const list = bytes === undefined ? null : listIn(bytes);
  return list === null ? null : { n: list.n, number: list.number };
}

/** Reads the guests that are let in now. Throws `unknown_key` for a list that names a newer ring: fetch the rings first. */
export async function readGuests(text: string, ring: Ring, account: Account, now: number): Promise<readonly Guest[]> {
  const { guests } = await readGuestList(text, ring, account);
  return guests.filter(({ device_id: id, until }) => until > now && !isGone(ring, id));
}

/** Returns the hash of a list by which its replacement names it; `''` for none. */
export async function hashOfGuests(text: string | null): Promise<string> {
  const [bytes] = text === null ? [] : (splitSigned(text) ?? []);
  return bytes === undefined ? '' : toBase64url(await sha256(bytes));
}
