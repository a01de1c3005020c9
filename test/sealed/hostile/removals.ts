import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { memberOf } from '../../../shared/client/sealed/ring/ring.ts';
import { type Party, unlessRefused, verifies } from './party.ts';
import { check, type Run } from './run.ts';
import type { Proof } from './passed.ts';

/** Announces the removal of the keys, drops objections, and says that the account has no keys. */
export function makeRemovals({ chance, server, account, seen, known }: Run) {
  /** Checks an objection: it is one, to what was announced, and cannot be taken for anything else. */
  function checkProof(sig: string, { asks, n, signature = '' }: Proof, times: readonly number[]): void {
    check(asks === 'keep', 'the removal of the keys was signed, and no user has asked for it');
    const signed = [account.service, account.user_id, String(n)];
    const texts = times.map(String);
    check(verifies(sig, ['baton/1 keys keep', ...signed, ...texts], signature), 'an objection is to something else');
    for (const label of ['baton/1 keys delete', 'baton/1 erase'])
      check(!verifies(sig, [label, ...signed], signature), 'an objection can be taken for a removal');
  }

  /** Lets a member object. The announcement stays if the server has dropped the objection. */
  async function object(by: Party, { keys }: Keyring): Promise<void> {
    const before = server.proofs.length;
    const times = server.announces.map(({ at }) => at);
    const isKept = await unlessRefused(by.sealing.deletions.keepKeys().then(() => true));
    const proofs = server.proofs.slice(before);
    const { sig } = await publicKeysOf(keys);
    for (const proof of proofs) checkProof(sig, proof, times);
    check(isKept === null || proofs.length > 0, 'an objection was reported, and the server has none');
    seen.objections += proofs.length;
  }

  return {
    /** Announces a removal that nobody wants. Each device says so as long as it is announced, whatever the server took. */
    async announce(by: Party): Promise<void> {
      const before = server.proofs.length;
      server.isHostile = false;
      const at = Date.now() + 86_400_000 - chance.below(1_000);
      server.announces = [{ of: chance.pick(['keys', 'account']), at }];
      server.dropsObjections = chance.is(0.6);
      const isTold = () => by.sealing.deletions.announced().some((each) => each.at === at);
      const keyring = await known(by);
      if (keyring !== null) {
        check(isTold(), 'a removal was announced, and the device does not tell it');
        if (memberOf(keyring.ring, by.id) !== null && chance.is(0.7)) await object(by, keyring);
        if ((await known(by)) !== null)
          check(isTold(), 'a removal is still announced, and the device does not tell it');
        server.announces = [];
        if ((await known(by)) !== null) check(!isTold(), 'a removal is told that is not announced any more');
      }
      [server.announces, server.dropsObjections] = [[], false];
      const removals = server.proofs.slice(before).filter(({ asks }) => asks !== 'keep');
      check(removals.length === 0, 'keys are removed, and no user has asked for it');
    },

    /** Says that the account has no keys. No device believes that, makes new ones, or puts its rings back by itself. */
    async hideKeys(by: Party): Promise<void> {
      const { keyring, sealing, stores } = by;
      const [rings, before] = [server.rings.length, await stores.keys.load()];
      server.isHostile = false;
      server.hidesKeys = true;
      check((await unlessRefused(sealing.rings.current())) === null, 'keys are used that the server does not have');
      const made = await unlessRefused(sealing.rings.create({ kind: 'cli' }));
      check(made === null || (before?.account ?? null) === null, 'a device makes other keys than it has');
      const changed = await unlessRefused(
        sealing.linking.remove([chance.pick(keyring?.ring.body.members ?? [])?.device_id ?? '']),
      );
      check(changed === null, 'a ring is changed that the server does not have');
      server.hidesKeys = false;
      const after = await stores.keys.load();
      check(server.rings.length === rings, 'rings are put, and no user has said so');
      check(
        JSON.stringify(after?.rings ?? []) === JSON.stringify(before?.rings ?? []),
        'a device has forgotten its rings',
      );
      seen.hidden += 1;
    },
  };
}
