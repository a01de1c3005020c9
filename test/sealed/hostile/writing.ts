import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { memberOf } from '../../../shared/client/sealed/ring/ring.ts';
import type { Device } from '../../../shared/client/wire.ts';
import { type Act, knownBy, opens } from './acts.ts';
import { type Party, unlessRefused } from './party.ts';
import { check, type Run } from './run.ts';
import type { Posted } from './server.ts';

/** Lets devices write, and checks for whom they have sealed. */
export function makeWriting(run: Run) {
  const { seed, chance, server, attacker, guests, mallory, members, acts, written, seen, stolen, known } = run;
  const listed = (): Device[] =>
    [...members, ...guests.visiting].map(({ id, device }) => ({
      device_id: id,
      name: device.name,
    })) as Device[];
  /** The devices as the server names them. */
  function told(): Device[] {
    const all = listed();
    if (!server.isHostile || chance.is(0.6)) return all;
    if (stolen.keyring !== null && chance.is(0.5))
      return [...all, { device_id: mallory.id, name: 'Mallory' } as Device];
    if (chance.is(0.5)) return [...all, { device_id: 'attacker', name: 'Phone' } as Device];
    return all.filter(() => chance.is(0.7));
  }

  /**
   * Checks what a device has just sealed: not for the attacker, and not for the removed device once its ring is without it. A
   * device that has heard of the removal waits for such a ring; a device that is only not listed keeps its place.
   */
  async function checkSealed(by: Party, posted: Posted, keyring: Keyring): Promise<void> {
    check(!(await opens(posted, { ...keyring, keys: attacker.keys, accountKeys: [] })), 'sealed for the attacker');
    await guests.checkSealed(by, posted, keyring);
    const taken = stolen.keyring;
    if (taken === null) return;
    const isIn = memberOf(keyring.ring, mallory.id) !== null;
    // Who is kept behind, at a ring from before the removed device joined, has the key that it got then.
    const isBefore = keyring.ring.body.n < (memberOf(taken.ring, mallory.id)?.since ?? 0);
    check(
      isIn || isBefore || !(await opens(posted, { ...taken, rings: keyring.rings, ring: keyring.ring })),
      'sealed for a removed device',
    );
    check(!isIn || !by.hasHeard, 'sealed while a removed device has the key');
  }

  /** Writes a text by a device: a message, or the clipboard. */
  async function write(by: Party, to: string): Promise<void> {
    const keyring = await known(by);
    if (keyring === null) return void (seen.stopped += 1);
    check(keyring.ring.body.n >= by.mustKnow, `${by.device.name} seals below a ring that it has seen used`);
    const [text, given] = [`text ${acts.length} ${seed}`, told()];
    const before = server.posted.length;
    const act: Act = {
      ...{ from: by.id, to, text, ...knownBy(keyring), isAfterRemoval: false },
      sig: (await publicKeysOf(keyring.keys)).sig,
      t: null,
    };
    acts.push(act);
    const { texts } = by.sealing;
    const settled = await unlessRefused(
      to === ''
        ? texts.setClipboard(keyring, text, { retries: 0 }).then(() => 1)
        : texts.send(keyring, { to, text, devices: given }, { retries: 0 }).then(({ messageIds }) => messageIds.length),
    );
    for (const posted of server.posted.slice(before)) {
      written.set(posted.sealed, act);
      if (guests.isGuest(posted.to)) seen.toGuests += 1;
      await checkSealed(by, posted, keyring);
    }
    if (settled === null) return;
    seen.sent += 1;
    const count = server.posted.length - before;
    // An attempt whose answer was cut off is made again with the same key.
    check(settled <= count && (count === 0 || server.lastStatus >= 200), 'reported as sent, and it was not');
  }

  return { write, checkSealed };
}
