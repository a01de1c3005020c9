import { sealedError } from '../sealed-error.ts';
import { type Account, checkFirst, checkNext, hashOf, readRing, type Ring } from './ring.ts';

/** What the service answers to `GET /api/keys`. */
export interface KeysAnswer {
  readonly rings: readonly string[];
  /** The ring in force. */
  readonly n: number;
  /** The list of guests, or null. */
  readonly guests: string | null;
}

/** So many rings are kept beside the newest: as long as a replaced key lives there are hardly more. */
export const KEPT_RINGS = 64;

const last = (rings: readonly Ring[]): Ring | undefined => rings.at(-1);

/** The rings of this list that follow those that are known. Throws where they are of another chain, or there is a gap. */
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
      // The same author of the chain cannot sign two rings after one: it is another chain.
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
 * Walks from the rings that are known, of which the last is the pin, to the newest in the list: each has to be signed by a member
 * of the one before. Without a pin the list has to begin with the first ring of the account.
 *
 * Throws `devices_disagree` for a ring with the number of one that is known and another hash, or one that does not follow;
 * `link_again` where the rings between are not kept any more; `bad_ring` for one that is not valid.
 */
export async function walkChain(known: readonly Ring[], texts: readonly string[], account: Account): Promise<Ring[]> {
  return (await readOn(known, texts, account)).slice(-KEPT_RINGS);
}

/** Pins a ring by its number and hash, as a grant names them: the list has to contain it, or one that it follows. */
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

/** Rings before the oldest that is known: each is what the next one names as the one before it, so that no signature is asked. */
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
 * The rings that a store has lost, in order: it has only those up to `n`, as after a failover. After a 404 put them back only when
 * the user says so, because the account may have been erased.
 */
export const lostAfter = (known: readonly Ring[], n: number): string[] =>
  known.filter(({ body }) => body.n > n).map(({ text }) => text);
