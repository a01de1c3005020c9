import { toBase64url } from '../primitives/bytes.ts';
import type { Ring } from './ring.ts';

/*
 * Members tell each other which ring they use. Each sealed body names the ring of its sender, by number and hash. If a
 * member names one that is not in the chain of this device, either the service hides rings or there is another chain.
 * Nothing is sealed then.
 *
 * Such a word counts with the key that signed it, and for as long as the newest ring has that key. An honest device loses
 * nothing by this. It was a member up to ring n when it named n. So if a chain lacks the device before n, the claim is
 * false. Without the bound, one body of a stolen device would stop all others for ever.
 *
 * The word of a device that was removed does not count, although it may be the owner, whom a thief has removed on another
 * chain. The two cannot be told apart, because a removed device can sign a whole chain by itself. A thief who is out has to
 * stay out. The word is still kept. It counts again if the key comes back, so that a thief cannot undo it by taking its
 * device out and putting it in again.
 */

/** A ring that a member has named. */
export interface NamedRing {
  readonly n: number;
  /** The first 16 bytes of its hash, as base64url. */
  readonly hash: string;
}

/** The rings that members have named, by the signing key of the member. Only those that this device does not have are kept. */
export type NamedRings = Readonly<Record<string, NamedRing>>;

/** The bytes of a hash that a body has. */
export const NAMED_HASH_BYTES = 16;

/** Returns the part of the hash of a ring that a body names. */
export const namedHashOf = ({ hash }: Pick<Ring, 'hash'>): string => toBase64url(hash.subarray(0, NAMED_HASH_BYTES));

/**
 * The cause of `unknown_key` or `devices_disagree` if a member of the ring in force has signed the content: it knows a ring
 * that this device does not have. A guest, or a device that was removed, cannot stop a device in this way.
 */
export class OtherRing extends Error {
  /** The signing key of the member. */
  readonly sig: string;
  readonly named: NamedRing;

  constructor(sig: string, named: NamedRing) {
    super(`Ring ${named.n} is in use`);
    [this.sig, this.named] = [sig, named];
  }
}

/** Adds what a member said. The newest ring counts, because a chain that has it has the rings before it too. */
export const withNamed = (known: NamedRings, sig: string, named: NamedRing): NamedRings =>
  (known[sig]?.n ?? 0) >= named.n ? known : { ...known, [sig]: named };

/** Joins two notes of what members said. */
export const bothNamed = (one: NamedRings = {}, other: NamedRings = {}): NamedRings =>
  Object.entries(other).reduce((all, [sig, named]) => withNamed(all, sig, named), one);

/** The most words that are kept of devices without a place in the ring: as many as a ring has members. */
const MOST_LEFT = 80;

/** Splits what was said about rings that this chain does not have: by members of the newest ring, and by others. */
function splitNamed(named: NamedRings, rings: readonly Ring[]) {
  const members = new Set(rings.at(-1)?.body.members.map(({ sig }) => sig));
  const isKnown = ({ n, hash }: NamedRing): boolean =>
    rings.some((ring) => ring.body.n === n && namedHashOf(ring) === hash);
  const unknown = Object.entries(named).filter(([, each]) => !isKnown(each));
  return {
    ofMembers: unknown.filter(([sig]) => members.has(sig)),
    ofOthers: unknown.filter(([sig]) => !members.has(sig)),
  };
}

/** Returns what still counts: said by a member of the newest ring, about a ring that this chain does not have. */
export const openNamed = (named: NamedRings = {}, rings: readonly Ring[]): NamedRings =>
  Object.fromEntries(splitNamed(named, rings).ofMembers);

/**
 * Returns what to keep: what counts, and what would count again if its key came back. `isFull`: no further word could be
 * kept. Only somebody who wants one forgotten says so much, so nothing may be sealed until this device is linked again.
 */
export function keptNamed(named: NamedRings = {}, rings: readonly Ring[]): { named: NamedRings; isFull: boolean } {
  const { ofMembers, ofOthers } = splitNamed(named, rings);
  return {
    named: Object.fromEntries([...ofOthers.slice(0, MOST_LEFT), ...ofMembers]),
    isFull: ofOthers.length >= MOST_LEFT,
  };
}

/** The highest number among named rings; 0 for none. */
export const highestOf = (named: NamedRings = {}): number => Math.max(0, ...Object.values(named).map(({ n }) => n));
