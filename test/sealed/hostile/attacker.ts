import { sealClipboard } from '../../../shared/client/sealed/content/clipboard.ts';
import { sealMessage } from '../../../shared/client/sealed/content/messages.ts';
import { type DeviceKeys, makeDeviceKeys, publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { randomBytes, utf8 } from '../../../shared/client/sealed/primitives/bytes.ts';
import { keyIdOf, wrapFor } from '../../../shared/client/sealed/ring/account-keys.ts';
import { makeFirstRing, makeNextRing } from '../../../shared/client/sealed/ring/change.ts';
import { hashOf, readRing, type RingBody, signBytes } from '../../../shared/client/sealed/ring/ring.ts';
import { WORDS_ID } from '../../../shared/client/sealed/ring/words-member.ts';

/** The account as a ring names it. */
export interface AccountName {
  service: string;
  user_id: string;
}

/** The server as an attacker that has its own keys, and later those of a device that was removed. */
export interface Attacker {
  readonly keys: DeviceKeys;
  /** Makes a ring after this one that lets the attacker in under its own key, signed by the given signer. */
  ringAfter(text: string, account: AccountName, signer?: DeviceKeys): Promise<string>;
  /**
   * Makes rings of its own from the first one on, with the recovery words of these rings and what they have signed; null if
   * there are none.
   */
  chainWithWords(texts: readonly string[], account: AccountName): Promise<string[] | null>;
  /** Makes a list of guests with the attacker in it, signed by the given signer. */
  guestsAt(text: string, account: AccountName, signer?: CryptoKeyPair): Promise<string>;
  /** Seals a message, or a clipboard, in the name of another device, with what the server knows of this ring. */
  forge(
    text: string,
    account: AccountName,
    about: { from: string; to: string; text: string; t: number },
  ): Promise<string>;
}

const bodyOf = (text: string): RingBody =>
  JSON.parse(Buffer.from(text.split('.')[0] ?? '', 'base64url').toString()) as RingBody;

export async function makeAttacker(): Promise<Attacker> {
  const keys = await makeDeviceKeys();
  const shown = await publicKeysOf(keys);
  return {
    keys,

    async ringAfter(text, account, signer = keys) {
      const { body, ...before } = await readRing(text, account);
      const [key, n] = [randomBytes(32), body.n + 1];
      const own = { device_id: 'attacker', kind: 'cli', ...shown, since: n };
      const members = [...body.members, own];
      const epoch = body.epoch + 1;
      const wraps = await Promise.all(
        members.map(
          async (each) => [each.device_id, await wrapFor(account, { epoch, key, until: null }, each)] as const,
        ),
      );
      const head = { v: 1, ...account, n, prev_hash: hashOf({ ...before, body }), epoch, key_id: await keyIdOf(key) };
      const ring = { ...head, members, wraps: Object.fromEntries(wraps), older: '' };
      return signBytes('baton/1 ring', account, signer, utf8(JSON.stringify(ring)));
    },

    async chainWithWords(texts, account) {
      const bodies = texts.map(bodyOf);
      const { words: said, members = [] } = bodies.findLast(({ words }) => words !== undefined) ?? {};
      const words = members.find(({ device_id }) => device_id === WORDS_ID);
      if (said === undefined || words === undefined) return null;
      const signer = { device_id: 'attacker', keys };
      const chain = [await makeFirstRing(account, { ...signer, kind: 'cli' })];
      for (let last = chain[0]; last !== undefined && last.body.n <= said.n; last = chain.at(-1)) {
        chain.push(await makeNextRing(last, signer, { add: [words], words: said }, Date.now()));
      }
      return chain.map(({ text }) => text);
    },

    async guestsAt(text, account, sig = keys.sig) {
      const { body } = await readRing(text, account);
      const guests = [{ device_id: 'attacker', ...shown, until: Date.now() + 3_600_000 }];
      return signBytes(
        'baton/1 guests',
        account,
        { ...keys, sig },
        utf8(JSON.stringify({ n: body.n, number: 1_000, guests })),
      );
    },

    async forge(ringText, account, { from, to, text, t }) {
      const ring = await readRing(ringText, account);
      const signer = { device_id: from, keys, account: { ...account, device_id: from } };
      const known = { rings: [ring], ring, guests: [], seen: 0, removed: new Set<string>() };
      const keyring: Keyring = { ...signer, ...known, accountKeys: [] };
      if (to !== '') return sealMessage(keyring, { to, text, t });
      return sealClipboard(
        { ...keyring, accountKeys: [{ epoch: ring.body.epoch, key: randomBytes(32), until: null }] },
        { text, t },
      );
    },
  };
}
