import { adoptRing, type Keyring } from '../sealed/keyring.ts';
import { type DeviceKeys, publicKeysOf } from '../sealed/keys/device-keys.ts';
import { keepDeviceKeys, type KeyedAccount } from '../sealed/keys/key-store.ts';
import { walkChain } from '../sealed/ring/chain.ts';
import { makeNextRing } from '../sealed/ring/change.ts';
import { type Account, hashOf, memberOf, type Ring } from '../sealed/ring/ring.ts';
import { hasStated, keysOfWords, makeWords, signStatement } from '../sealed/ring/words.ts';
import { WORDS_ID, WORDS_KIND } from '../sealed/ring/words-member.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import type { Recovery, Rings, SealingStores } from './api.ts';
import { sealingError } from './problem.ts';
import { isCode, makeRingCalls } from './ring-calls.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** How often a ring is made, where another device was faster each time. */
const MOST_RACES = 8;
/** The most pages of eight rings that are read: as many as the service keeps. */
const MOST_PAGES = 128;

/** The chain of an account from its first ring on. Of the later rings only the newest are kept. */
interface WholeChain {
  readonly first: Ring;
  readonly rings: readonly Ring[];
}

/** Recovery words of an account. */
export function makeRecovery(
  calls: SealingCalls,
  known: Rings,
  { keys: store, asking, grant }: SealingStores,
): Recovery {
  const { fetchKeys, put, accountOf } = makeRingCalls(calls);

  /** Reads all rings, and checks that each follows the one before. Throws `keys_gone`, or the error of a bad chain. */
  async function readAll(account: Account): Promise<WholeChain> {
    let first: Ring | undefined;
    let rings: readonly Ring[] = [];
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const after: number = rings.at(-1)?.body.n ?? 0;
      const answer = await fetchKeys(after);
      if (answer === null) throw sealingError('keys_gone');
      rings = await walkChain(rings, answer.rings, account);
      first ??= rings[0];
      const newest = rings.at(-1);
      if (first === undefined || newest === undefined || newest.body.n === after) throw sealedError('link_again');
      if (newest.body.n >= answer.n) return { first, rings };
    }
    throw sealedError('link_again');
  }

  /** Throws `bad_words` for words of another account, and `bad_ring` for a chain that these words have not signed. */
  async function checkChain({ first, rings: all }: WholeChain, keys: DeviceKeys): Promise<Ring> {
    const newest = all.at(-1) as Ring;
    const member = memberOf(newest, WORDS_ID);
    const own = await publicKeysOf(keys);
    if (member?.enc !== own.enc || member.sig !== own.sig) throw sealedError('bad_words');
    const { words } = newest.body;
    if (words === undefined || words.n > newest.body.n) throw sealedError('bad_ring');
    // The keys of the words are in every ring, so a service could make a chain of its own with them.
    if (!(await hasStated(words.signature, { first, n: words.n }, own))) throw sealedError('bad_ring');
    return newest;
  }

  /** Puts a ring in which this device is a member, signed by the words. */
  async function join(account: KeyedAccount, kind: string, keys: DeviceKeys): Promise<void> {
    const device = await publicKeysOf((await keepDeviceKeys(asking)).keys);
    const add = [{ device_id: account.device_id, kind, ...device }];
    for (let races = 0; races < MOST_RACES; races += 1) {
      const chain = await readAll(account);
      const newest = await checkChain(chain, keys);
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
    async makeWords() {
      const keyring = await known.current();
      if (keyring === null) throw sealedError('unkeyed');
      const { first, rings: all } = await readAll(keyring.account);
      const same = all.find(({ body }) => body.n === keyring.ring.body.n);
      if (same === undefined || hashOf(same) !== hashOf(keyring.ring)) throw sealedError('devices_disagree');
      const words = await makeWords();
      const keys = await keysOfWords(words);
      const { n } = keyring.ring.body;
      const signature = await signStatement({ first, n }, keys);
      const add = [{ device_id: WORDS_ID, kind: WORDS_KIND, ...(await publicKeysOf(keys)) }];
      await known.change({ add, words: { n, signature } });
      return words;
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
