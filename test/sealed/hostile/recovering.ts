import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import { keepDeviceKeys } from '../../../shared/client/sealed/keys/key-store.ts';
import { keysOfWords, makeWords } from '../../../shared/client/sealed/ring/words.ts';
import { type Party, unlessRefused } from './party.ts';
import { check, type Run } from './run.ts';

/** Makes recovery words, and lets a device in with them. */
export function makeRecovering({ chance, server, attacker, account, seen, admitted, admit, known }: Run) {
  let words: string | null = null;
  return {
    hasWords: () => words !== null,

    /** Lets a device make recovery words, as its user does. */
    async makeRecoveryWords(by: Party): Promise<void> {
      const keyring = await known(by);
      if (keyring === null) return;
      words = await makeWords();
      const { enc, sig } = await publicKeysOf(await keysOfWords(words));
      admitted.add(`${enc} ${sig}`);
      await unlessRefused(by.sealing.recovery.makeWords({ words, seen: keyring }));
    },

    /** Lets a new device in with the words. The server may show rings that it made itself, with the keys of the words. */
    async recover(by: Party): Promise<boolean> {
      await keepDeviceKeys(by.stores.asking);
      await admit(by, 'asking');
      const isForged = chance.is(0.4);
      if (chance.is(0.5)) server.isHostile = false;
      server.forgedChain = isForged ? await attacker.chainWithWords(server.rings, account) : null;
      const shown = server.forgedChain;
      await unlessRefused(by.sealing.recovery.recover(words ?? '', { kind: 'cli' }));
      server.forgedChain = null;
      // The server can keep back rings after the device has joined.
      const { account: joined = null, rings = [] } = (await by.stores.keys.load()) ?? {};
      const isOfServer = shown?.some((text) => rings.includes(text)) === true;
      check(!isOfServer, 'a device recovers by rings that the words have not signed');
      if (shown !== null) seen.forgedChains += 1;
      if (joined !== null) seen.recovered += 1;
      return joined !== null;
    },
  };
}
