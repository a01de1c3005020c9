import { pointIn } from '../keys/device-keys.ts';
import type { Bytes } from '../primitives/bytes.ts';
import { utf8 } from '../primitives/bytes.ts';
import { sealedError } from '../sealed-error.ts';
import { type Account, jsonIn, type Ring, signBytes, type Signer, signerOf, splitSigned } from './ring.ts';

/** A device without an account key. Content for it is sealed to it alone. */
export interface Guest {
  readonly device_id: string;
  readonly enc: string;
  readonly sig: string;
  /** Unix milliseconds. */
  readonly until: number;
}

/** The guests of an account at the ring `n`. */
export interface GuestList {
  readonly n: number;
  readonly guests: readonly Guest[];
}

const LABEL = 'baton/1 guests';
const MOST_GUESTS = 64;

function isGuest(value: unknown): value is Guest {
  if (typeof value !== 'object' || value === null) return false;
  const { device_id, enc, sig, until } = value as Record<string, unknown>;
  const hasId = typeof device_id === 'string' && /^[\w-]{1,64}$/.test(device_id);
  return hasId && pointIn(enc) !== null && pointIn(sig) !== null && Number.isSafeInteger(until);
}

function listIn(bytes: Bytes): GuestList | null {
  const value = jsonIn(bytes) as { n?: unknown; guests?: unknown } | null | undefined;
  if (typeof value !== 'object' || value === null || !Number.isSafeInteger(value.n)) return null;
  if (!Array.isArray(value.guests) || value.guests.length > MOST_GUESTS || !value.guests.every(isGuest)) return null;
  const { guests } = value;
  const { size } = new Set(guests.flatMap(({ device_id, enc, sig }) => [`id ${device_id}`, enc, sig]));
  return size === guests.length * 3 ? { n: value.n as number, guests } : null;
}

/** Signs the list of guests, without the expired ones. */
export function signGuests({ body }: Ring, guests: readonly Guest[], { keys }: Signer, now: number): Promise<string> {
  const kept = guests.filter(({ until }) => until > now);
  if (kept.length > MOST_GUESTS) return Promise.reject(sealedError('ring_full'));
  return signBytes(LABEL, body, keys, utf8(JSON.stringify({ n: body.n, guests: kept })));
}

/**
 * Reads the guests that are let in now. A member of the ring in force must have signed the list. Throws `unknown_key` for a
 * list that names a newer ring than the known one: fetch the rings first.
 */
export async function readGuests(text: string, ring: Ring, account: Account, now: number): Promise<readonly Guest[]> {
  const split = splitSigned(text);
  const list = split === null ? null : listIn(split[0]);
  if (split === null || list === null) throw sealedError('bad_ring');
  if (list.n > ring.body.n) throw sealedError('unknown_key');
  if ((await signerOf(LABEL, account, split, ring.body.members)) === null) throw sealedError('wrong_signer');
  const members = new Set(ring.body.members.flatMap(({ device_id, enc, sig }) => [`id ${device_id}`, enc, sig]));
  const isApart = ({ device_id, enc, sig }: Guest) => ![`id ${device_id}`, enc, sig].some((each) => members.has(each));
  return list.guests.filter((guest) => guest.until > now && isApart(guest));
}
