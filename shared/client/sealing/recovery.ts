import { adoptRing, type Keyring } from '../sealed/keyring.ts';
import { type DeviceKeys, publicKeysOf, type PublicKeys } from '../sealed/keys/device-keys.ts';
import { keepDeviceKeys, type KeyedAccount } from '../sealed/keys/key-store.ts';
import { walkChain } from '../sealed/ring/chain.ts';
import { makeNextRing } from '../sealed/ring/change.ts';
import { type Account, hashOf, memberOf, readRing, type Ring, type WordsSaid } from '../sealed/ring/ring.ts';
import { hasStated, keysOfWords, makeWords, signStatement } from '../sealed/ring/words.ts';
import { WORDS_ID, WORDS_KIND } from '../sealed/ring/words-member.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import type { Recovery, Rings, SealingStores } from './api.ts';
import { sealingError } from './problem.ts';
import { isCode, makeRingCalls } from './ring-calls.ts';
import { SEALING_LIMITS } from './sealing-limits.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** How often a ring is made if another device is faster each time. */
const MOST_RACES = 8;
/** The most pages of eight rings that are read: as many as the service keeps. */
const MOST_PAGES = 128;

/** The share of what the service keeps that may follow the ring of the statement before the words are to be renewed. */
const RENEW_AT = 0.5;

/** The chain of an account from a ring on. Only the newest of the later rings are kept. */
interface WholeChain {
  readonly start: Ring;
  readonly rings: readonly Ring[];
}

/** Estimates the share of what the service keeps that the rings from this number on take, by the sizes of the newest. */
function shareSince({ ring, rings }: Keyring, n: number): number {
  const count = ring.body.n - n + 1;
  const bytes = rings.reduce((sum, { text }) => sum + text.length, 0) / rings.length;
  return Math.max(count / SEALING_LIMITS.rings, (count * bytes) / SEALING_LIMITS.ringsBytes);
}

/** Recovery words of an account. */
export function makeRecovery(
  calls: SealingCalls,
  known: Rings,
  { keys: store, asking, grant }: SealingStores,
): Recovery {
  const { fetchKeys, fetchNewest, put, accountOf } = makeRingCalls(calls);

  /**
   * Reads all rings after `from`, and checks that each follows the one before. Throws `keys_gone`, or the error of a ring
   * that does not follow.
   */
  async function readAll(account: Account, from?: Ring): Promise<WholeChain> {
    let start = from;
    let rings: readonly Ring[] = from === undefined ? [] : [from];
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const after: number = rings.at(-1)?.body.n ?? 0;
      const answer = await fetchKeys(after);
      if (answer === null) throw sealingError('keys_gone');
      rings = await walkChain(rings, answer.rings, account);
      start ??= rings[0];
      const newest = rings.at(-1);
      if (start === undefined || newest === undefined) throw sealedError('link_again');
      if (newest.body.n >= answer.n) return { start, rings };
      if (newest.body.n === after) throw sealedError('link_again');
    }
    throw sealedError('link_again');
  }

  /** Returns the ring of this number as the service shows it. Null: the service no longer keeps it. */
  async function ringAt(n: number, account: Account): Promise<Ring | null> {
    const [text] = (await fetchKeys(n - 1))?.rings ?? [];
    const ring = text === undefined ? null : await readRing(text, account);
    return ring?.body.n === n ? ring : null;
  }

  function checkWords({ body }: Ring, { enc, sig }: PublicKeys): WordsSaid {
    const member = memberOf({ body }, WORDS_ID);
    if (member?.enc !== enc || member.sig !== sig) throw sealedError('bad_words');
    const { words } = body;
    if (words === undefined || words.n > body.n) throw sealedError('bad_ring');
    return words;
  }

  /**
   * Finds the ring that the words have signed. Throws `bad_words` for words of another account, `bad_ring` for rings that
   * these words have not signed, and `words_over` if the service no longer keeps the ring.
   */
  async function startOf(account: Account, own: PublicKeys): Promise<Ring> {
    const newest = (await fetchNewest())?.rings.at(-1);
    if (newest === undefined) throw sealingError('keys_gone');
    const { n, signature } = checkWords(await readRing(newest, account), own);
    const [first, renewed] = [await ringAt(1, account), await ringAt(n, account)];
    // The keys of the words are in every ring, so a service could make a chain of its own with them.
    for (const start of [first, renewed]) {
      if (start !== null && (await hasStated(signature, { first: start, n }, own))) return start;
    }
    throw sealedError(first === null ? 'words_over' : 'bad_ring');
  }

  /** Returns the ring for a new statement: the first one, or the ring in force if the first will not be kept for long. */
  async function startFor(keyring: Keyring): Promise<Ring> {
    if (shareSince(keyring, 1) >= RENEW_AT) return keyring.ring;
    const { start, rings: all } = await readAll(keyring.account);
    const same = all.find(({ body }) => body.n === keyring.ring.body.n);
    if (same === undefined || hashOf(same) !== hashOf(keyring.ring)) throw sealedError('devices_disagree');
    return start;
  }

  /** Puts a ring in which this device is a member, signed by the words. */
  async function join(account: KeyedAccount, kind: string, keys: DeviceKeys): Promise<void> {
    const device = await publicKeysOf((await keepDeviceKeys(asking)).keys);
    const add = [{ device_id: account.device_id, kind, ...device }];
    for (let races = 0; races < MOST_RACES; races += 1) {
      const own = await publicKeysOf(keys);
      const chain = await readAll(account, await startOf(account, own));
      const newest = chain.rings.at(-1) as Ring;
      checkWords(newest, own);
      const signer = { device_id: WORDS_ID, keys };
      const next = await makeNextRing(newest, signer, { add }, calls.serverNow());
      try {
        await put(next.text, next.body.n);
      } catch (error) {
        if (isCode(error, 'keys_conflict')) continue;
        throw error;
      }
      const texts = [...chain.rings, next].map(({ text }) => text);
      const [oldest] = chain.rings as [Ring];
      const pin = { account, n: oldest.body.n, hash: hashOf(oldest) };
      await adoptRing(asking, pin, texts, calls.serverNow());
      return;
    }
    throw sealedError('ring_moved');
  }

  return {
    async makeWords(chosen) {
      const keyring = await known.current();
      if (keyring === null) throw sealedError('unkeyed');
      const first = await startFor(keyring);
      const words = chosen?.words ?? (await makeWords());
      const keys = await keysOfWords(words);
      const own = await publicKeysOf(keys);
      const { n } = keyring.ring.body;
      const signature = await signStatement({ first, n }, keys);
      const add = [{ device_id: WORDS_ID, kind: WORDS_KIND, ...own }];
      // The words themselves may be in the ring already: the response to an earlier attempt was lost.
      const before = chosen && [own.sig, memberOf(chosen.seen.ring, WORDS_ID)?.sig];
      const check = ({ ring }: Keyring): void => {
        if (before?.includes(memberOf(ring, WORDS_ID)?.sig) === false) throw sealedError('words_moved');
      };
      await known.change({ add, words: { n, signature, at: calls.serverNow() } }, check);
      return words;
    },

    async renewWords(words) {
      const keyring = await known.current();
      if (keyring === null) throw sealedError('unkeyed');
      const { ring } = keyring;
      const keys = await keysOfWords(words);
      const own = await publicKeysOf(keys);
      checkWords(ring, own);
      const { n } = ring.body;
      const signature = await signStatement({ first: ring, n }, keys);
      const renewed = await known.change({ words: { ...ring.body.words, n, signature }, renewedBy: own });
      // Another device may have made new words meanwhile.
      checkWords(renewed.ring, own);
      return renewed;
    },

    async areDue(keyring) {
      const { account, ring } = keyring;
      const words = memberOf(ring, WORDS_ID);
      const said = ring.body.words;
      if (words === null || said === undefined || shareSince(keyring, 1) < RENEW_AT) return false;
      if (shareSince(keyring, said.n) >= RENEW_AT) return true;
      const start = await ringAt(said.n, account);
      return start === null || !(await hasStated(said.signature, { first: start, n: said.n }, words));
    },

    async recover(words, { kind }): Promise<Keyring> {
      const session = await calls.session();
      if (session === null || session.scope !== 'full') throw sealingError('not_lasting');
      const before = await known.current();
      if (before !== null) return before;
      const keys = await keysOfWords(words);
      const account = await accountOf(session);
      await join(account, kind, keys);
      await store.lock(async () => {
        const pinned = await asking.load();
        if (pinned === null) throw sealedError('keys_lost');
        await store.save(pinned);
      });
      await grant.clear();
      await asking.clear();
      const keyring = await known.current();
      if (keyring === null) throw sealedError('keys_lost');
      return keyring;
    },
  };
}
