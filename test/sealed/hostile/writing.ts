import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { memberOf } from '../../../shared/client/sealed/ring/ring.ts';
import { type Act, knownBy, opens } from './acts.ts';
import type { makeListing } from './listing.ts';
import { type Party, unlessRefused } from './party.ts';
import { check, type Run } from './run.ts';
import type { Posted } from './passed.ts';

/** Lets devices write, and checks which devices they have sealed for. */
export function makeWriting(
  run: Run,
  { told, checkReaders }: Pick<ReturnType<typeof makeListing>, 'told' | 'checkReaders'>,
) {
  const { seed, chance, server, attacker, guests, mallory, acts, written, seen, stolen, known } = run;
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
    // A device that is held back at a ring from before the removed device joined has the key that it got then.
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
    const [text, devices, plain] = [`text ${acts.length} ${seed}`, told(), to !== '' && chance.is(0.1)];
    const before = server.posted.length;
    const act: Act = {
      ...{ from: by.id, to, text, ...knownBy(keyring), isAfterRemoval: false },
      sig: (await publicKeysOf(keyring.keys)).sig,
      t: null,
    };
    acts.push(act);
    const { texts } = by.sealing;
    const sent =
      to === '' ? null : await unlessRefused(texts.send(keyring, { to, text, devices, plain }, { retries: 0 }));
    const settled =
      to === ''
        ? await unlessRefused(texts.setClipboard(keyring, text, { retries: 0 }).then(() => 1))
        : (sent?.messageIds.length ?? null);
    checkReaders(by, keyring, { posted: server.posted.slice(before), sent, isPlain: plain });
    for (const posted of server.posted.slice(before)) {
      if (posted.plain !== '') seen.plain += 1;
      if (posted.plain !== '') continue;
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
