import { sealedError } from '../sealed-error.ts';
import { type Account, checkFirst, checkNext, hashOf, readRing, type Ring } from './ring.ts';

/** The response of the service to `GET /api/keys`. */
export interface KeysAnswer {
  readonly rings: readonly string[];
  /** The ring in force. */
  readonly n: number;
  /** The list of guests, or null. */
  readonly guests: string | null;
}

/** How many of the newest rings are kept. There are hardly more within the lifetime of a replaced key. */
export const KEPT_RINGS = 64;

const last = (rings: readonly Ring[]): Ring | undefined => rings.at(-1);

/** Appends the rings of this list that follow the known ones. Throws if they are of another chain, or one is missing. */
async function readOn(known: readonly Ring[], texts: readonly string[], account: Account): Promise<Ring[]> {
  const rings = [...known];
  for (const text of texts) {
    const ring = await readRing(text, account);
    const newest = last(rings);
    if (newest === undefined) {
      await checkFirst(ring);
      rings.push(ring);
    } else if (ring.body.n > newest.body.n + 1) throw sealedError('link_again');
    else if (ring.body.n === newest.body.n + 1) {
      // The same author of a chain cannot sign two rings after one, so this is another chain.
      if (ring.body.prev_hash !== hashOf(newest)) throw sealedError('devices_disagree');
      await checkNext(newest, ring);
      rings.push(ring);
    } else {
      const same = rings.find(({ body }) => body.n === ring.body.n);
      if (same !== undefined && hashOf(same) !== hashOf(ring)) throw sealedError('devices_disagree');
    }
  }
  return rings;
}

/**
 * Walks from the known rings, whose last one is the pin, to the newest in the list: a member of each ring has to sign the
 * next one. Without a pin the list has to begin with the first ring of the account.
 *
 * Throws `devices_disagree` for a ring that has the number of a known ring and another hash, or that does not follow;
 * `link_again` if the rings between are no longer kept; `bad_ring` for an invalid ring.
 */
export async function walkChain(known: readonly Ring[], texts: readonly string[], account: Account): Promise<Ring[]> {
  return (await readOn(known, texts, account)).slice(-KEPT_RINGS);
}

/** Pins a ring by its number and hash, which a grant names: the list has to contain it, or one that it follows. */
export async function pinRing(
  texts: readonly string[],
  { n, hash, ...account }: Account & { n: number; hash: string },
): Promise<Ring[]> {
  for (const [at, text] of texts.entries()) {
    const ring = await readRing(text, account);
    if (ring.body.n !== n) continue;
    if (hashOf(ring) !== hash) throw sealedError('devices_disagree');
    return walkChain([ring], texts.slice(at + 1), account);
  }
  throw sealedError('link_again');
}

/** Reads the rings before the oldest known one. Each ring names the hash of the one before, so no signature is checked. */
export async function readBack(known: readonly Ring[], texts: readonly string[], account: Account): Promise<Ring[]> {
  const rings = [...known];
  for (const text of texts.toReversed()) {
    const [oldest] = rings;
    if (oldest === undefined || rings.length >= KEPT_RINGS) break;
    const ring = await readRing(text, account);
    if (ring.body.n >= oldest.body.n) continue;
    if (hashOf(ring) !== oldest.body.prev_hash) throw sealedError('devices_disagree');
    rings.unshift(ring);
  }
  return rings;
}

/**
 * Returns the rings that a store has lost, in order, when it has only those up to `n`, as after a failover. After a 404 put
 * them back only when the user says so, because the account may have been erased.
 */
export const lostAfter = (known: readonly Ring[], n: number): string[] =>
  known.filter(({ body }) => body.n > n).map(({ text }) => text);
