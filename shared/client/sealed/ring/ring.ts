import { pointIn } from '../keys/device-keys.ts';
import type { DeviceKeys } from '../keys/device-keys.ts';
import { type Bytes, fromBase64url, textOf, toBase64url, utf8 } from '../primitives/bytes.ts';
import { sha256 } from '../primitives/hkdf.ts';
import { hasSigned, sign, SIGNATURE_BYTES } from '../primitives/signature.ts';
import { sealedError } from '../sealed-error.ts';

/** The account that a ring, and everything sealed, belongs to. */
export interface Account {
  readonly service: string;
  readonly user_id: string;
}

/** A device, or the recovery words, with keys in a ring. */
export interface Member {
  readonly device_id: string;
  /** `web`, `cli`, `native`, `words`, or a kind of a later version. */
  readonly kind: string;
  readonly enc: string;
  readonly sig: string;
  /** The number of the ring in which these keys came in. */
  readonly since: number;
}

/** The content of a ring. */
export interface RingBody extends Account {
  readonly v: 1;
  readonly n: number;
  /** SHA-256 of the bytes of the ring before it; `''` in the first one. */
  readonly prev_hash: string;
  readonly epoch: number;
  readonly key_id: string;
  readonly members: readonly Member[];
  readonly wraps: Readonly<Record<string, string>>;
  /** The account keys that were replaced in the last 8 days, sealed under the key in force; `''` for none. */
  readonly older: string;
  /** The statement that the recovery words signed when they were made; left out without words. */
  readonly words?: WordsSaid;
  /** Guests that were removed before their time was over; left out without any. */
  readonly gone_guests?: readonly GoneGuest[];
}

/** A guest that was removed. The ring says so, because a device never takes an older ring than it knows. */
export interface GoneGuest {
  readonly device_id: string;
  /** When its time would be over. Unix milliseconds. */
  readonly until: number;
}

/**
 * The statement of the recovery words about a ring. A device that recovers believes only a chain that begins with that
 * ring.
 */
export interface WordsSaid {
  /** The ring that was in force. */
  readonly n: number;
  readonly signature: string;
  /** When the words were made. Unix milliseconds. Words of an earlier version do not have it. */
  readonly at?: number;
}

/** A ring in both forms: as text and as read. */
export interface Ring {
  readonly text: string;
  readonly bytes: Bytes;
  readonly signature: Bytes;
  readonly hash: Bytes;
  readonly body: RingBody;
}

/** A device that signs. */
export interface Signer {
  readonly device_id: string;
  readonly keys: DeviceKeys;
}

/** The most members of a ring. */
const MOST_MEMBERS = 80;
const MOST_CHARACTERS = 65_536;
/** The most removed guests in a ring. With 80 members it stays below its limit. */
export const MOST_GONE = 64;
/** The bytes of `02`, the encapsulated key, 32 bytes and the tag. */
const WRAP_BYTES = 114;
/** The last time that a `Date` can have (ECMA-262, 21.4.1.1). */
const LAST_MS = 8.64e15;
const HASH = /^[\w-]{43}$/;
const ID = /^[\w-]{1,64}$/;
const KIND = /^[a-z][a-z_-]{0,31}$/;

const isCount = (value: unknown, least = 0): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least;
const matches = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value);

function isMember(value: unknown): value is Member {
  if (typeof value !== 'object' || value === null) return false;
  const { device_id, kind, enc, sig, since } = value as Record<string, unknown>;
  const hasKeys = pointIn(enc) !== null && pointIn(sig) !== null;
  return matches(device_id, ID) && matches(kind, KIND) && hasKeys && isCount(since, 1);
}

function isWordsSaid(value: unknown): boolean {
  const { n, signature, at } = (value ?? {}) as Partial<Record<keyof WordsSaid, unknown>>;
  const isDated = at === undefined || (isCount(at) && at <= LAST_MS);
  return isCount(n, 1) && isDated && matches(signature, /^[\w-]{86}$/);
}

function areGone(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MOST_GONE) return false;
  return value.every((each: unknown) => {
    const { device_id, until } = (each ?? {}) as Partial<Record<keyof GoneGuest, unknown>>;
    return matches(device_id, ID) && Number.isSafeInteger(until);
  });
}

/** Tells whether no id and no key occurs twice. Otherwise the signature of one device could pass as that of another. */
function areDistinct(members: readonly Member[]): boolean {
  const { size } = new Set(members.flatMap(({ device_id, enc, sig }) => [`id ${device_id}`, enc, sig]));
  return size === 3 * members.length;
}

function haveWraps(members: readonly Member[], wraps: unknown): boolean {
  if (typeof wraps !== 'object' || wraps === null || Array.isArray(wraps)) return false;
  const entries = Object.entries(wraps as Record<string, unknown>);
  const known = new Set(members.map(({ device_id }) => device_id));
  const areWhole = entries.every(
    ([id, wrap]) => known.has(id) && typeof wrap === 'string' && fromBase64url(wrap)?.length === WRAP_BYTES,
  );
  return areWhole && entries.length === members.length;
}

/** Checks the fields that a ring may leave out. */
const hasFitExtras = ({ words, gone_guests }: Record<string, unknown>): boolean =>
  (words === undefined || isWordsSaid(words)) && (gone_guests === undefined || areGone(gone_guests));

function isBody(value: unknown): value is RingBody {
  if (typeof value !== 'object' || value === null) return false;
  const body = value as Record<string, unknown>;
  const { v, service, user_id, n, prev_hash, epoch, key_id, members, wraps, older } = body;
  const hasNumbers = v === 1 && isCount(n, 1) && isCount(epoch, 1) && epoch < 2 ** 32;
  const hasTexts = typeof service === 'string' && typeof user_id === 'string' && matches(older, /^[\w-]*$/);
  if (!hasNumbers || !hasTexts || !matches(key_id, HASH)) return false;
  if (!hasFitExtras(body)) return false;
  if (n === 1 ? prev_hash !== '' : !matches(prev_hash, HASH)) return false;
  if (!Array.isArray(members) || members.length === 0 || members.length > MOST_MEMBERS) return false;
  return members.every(isMember) && areDistinct(members) && haveWraps(members, wraps);
}

/** Splits `base64url(bytes).base64url(signature)` into bytes and signature; null for anything else. */
export function splitSigned(text: string): [bytes: Bytes, signature: Bytes] | null {
  if (text.length > MOST_CHARACTERS) return null;
  const [first = '', second = '', ...more] = text.split('.');
  const [bytes, signature] = [fromBase64url(first), fromBase64url(second)];
  if (more.length > 0 || bytes === null || signature?.length !== SIGNATURE_BYTES) return null;
  return [bytes, signature];
}

/** Parses JSON; undefined if it is not JSON, or has a field twice, which readers could understand differently. */
export function jsonIn(bytes: Bytes): unknown {
  const text = textOf(bytes);
  if (text === null) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

const RING_LABEL = 'baton/1 ring';
const signedParts = (label: string, { service, user_id }: Account, bytes: Bytes) => [label, service, user_id, bytes];

/** Signs bytes of the account, and returns them in the form that is sent. */
export async function signBytes(label: string, account: Account, { sig }: DeviceKeys, bytes: Bytes): Promise<string> {
  const signature = await sign(sig.privateKey, signedParts(label, account, bytes));
  return `${toBase64url(bytes)}.${toBase64url(signature)}`;
}

/** Finds the member that signed the bytes. */
export async function signerOf(
  label: string,
  account: Account,
  [bytes, signature]: readonly [Bytes, Bytes],
  members: readonly Member[],
): Promise<Member | null> {
  for (const member of members) {
    const key = pointIn(member.sig);
    if (key !== null && (await hasSigned(key, signature, signedParts(label, account, bytes)))) return member;
  }
  return null;
}

/** Reads a ring of this account. It does not check who signed the ring. */
export async function readRing(text: string, { service, user_id }: Account): Promise<Ring> {
  const signed = splitSigned(text);
  const body = signed === null ? undefined : jsonIn(signed[0]);
  if (signed === null || !isBody(body)) throw sealedError('bad_ring');
  if (body.service !== service || body.user_id !== user_id) throw sealedError('bad_ring');
  const [bytes, signature] = signed;
  return { text, bytes, signature, body, hash: await sha256(bytes) };
}

/**
 * Signs the content of a ring. Throws `ring_full` if it has too many members: only the service says who is away, so no
 * member is taken out for a new device unless the user says which.
 */
export async function signRing(body: RingBody, keys: DeviceKeys): Promise<Ring> {
  const text = await signBytes(RING_LABEL, body, keys, utf8(JSON.stringify(body)));
  if (body.members.length > MOST_MEMBERS || text.length > MOST_CHARACTERS) throw sealedError('ring_full');
  return readRing(text, body);
}

/** Returns the hash that the next ring names. */
export const hashOf = ({ hash }: Ring): string => toBase64url(hash);

/** Returns the member with this id, or null. */
export const memberOf = ({ body }: Pick<Ring, 'body'>, id: string): Member | null =>
  body.members.find(({ device_id }) => device_id === id) ?? null;

/** Tells whether a ring says that this guest was removed. An older list of guests, which a service may show, still has it. */
export const isGone = ({ body }: Pick<Ring, 'body'>, id: string): boolean =>
  body.gone_guests?.some(({ device_id }) => device_id === id) === true;

const hasSameKeys = (one: Member, other: Member): boolean => one.enc === other.enc && one.sig === other.sig;

/** Throws `bad_ring` unless this is the first ring of an account: made, signed and held by one member. */
export async function checkFirst(ring: Ring): Promise<void> {
  const { n, members, epoch } = ring.body;
  const signer = await signerOf(RING_LABEL, ring.body, [ring.bytes, ring.signature], members);
  if (n !== 1 || epoch !== 1 || members.length !== 1 || signer?.since !== 1) throw sealedError('bad_ring');
}

/** Tells whether the numbers fit how each member came, stayed or left. */
function followsMembers(before: Ring, { body }: Ring): boolean {
  const stays = (member: Member) => {
    const now = memberOf({ body }, member.device_id);
    return now !== null && hasSameKeys(member, now);
  };
  const areDated = body.members.every((member) => {
    const old = memberOf(before, member.device_id);
    return member.since === (old !== null && hasSameKeys(old, member) ? old.since : body.n);
  });
  const haveAllStayed = before.body.members.every(stays);
  const rotates = body.epoch === before.body.epoch + 1 && body.key_id !== before.body.key_id;
  const keeps = body.epoch === before.body.epoch && body.key_id === before.body.key_id;
  return areDated && (rotates || (keeps && haveAllStayed));
}

/**
 * Throws `bad_ring` unless `next` follows: a member that stays has signed it (one that leaves would know the new key), hash
 * and number are right, and the account key is new when anybody left.
 */
export async function checkNext(before: Ring, next: Ring): Promise<void> {
  const follows = next.body.n === before.body.n + 1 && next.body.prev_hash === hashOf(before);
  const signer = await signerOf(RING_LABEL, next.body, [next.bytes, next.signature], before.body.members);
  const own = signer === null ? null : memberOf(next, signer.device_id);
  const stays = signer !== null && own !== null && hasSameKeys(own, signer);
  if (!follows || !stays || !followsMembers(before, next)) throw sealedError('bad_ring');
}
