import { sealMessage } from '../../../shared/client/sealed/content/messages.ts';
import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import { type Act, type Handed, knownBy, messageOf } from './acts.ts';
import { spoilt } from './chance.ts';
import { type Party, unlessRefused } from './party.ts';
import type { Run } from './run.ts';
import type { Posted } from './passed.ts';

/** How the server hands out what it has. */
const WAYS = [
  'as it is',
  'as it is',
  'id',
  'sender',
  'spoilt',
  'forged',
  'removed',
  'removed as',
  'guest',
  'guest',
  'guest',
];

/** Hands out messages as the server does: what devices have posted, and what it makes with the keys that it has. */
export function makeHanding(run: Run) {
  const { seed, chance, server, attacker, account, guests, parties, ann, bob, mallory, acts, written, stolen } = run;

  const byMallory = async (from: string, to: string, text: string): Promise<string> => {
    const { keyring: taken } = stolen;
    if (taken === null) return '';
    return (await unlessRefused(sealMessage({ ...taken, device_id: from }, { to, text, t: Date.now() }))) ?? '';
  };

  /** Makes a text with the keys of a guest; what the guest itself could have written may be shown, as what it is. */
  async function ofGuest(by: Party): Promise<{ from: string; sealed: string; isOfGuest: boolean }> {
    const text = `of a guest ${acts.length} ${seed}`;
    const others = parties.filter((each) => each !== by).map(({ id }) => id);
    const forged = await guests.forge(by, others, text);
    if (forged === null) return { from: mallory.id, sealed: '', isOfGuest: true };
    const { from, sealed, own, keyring, t } = forged;
    const { sig } = await publicKeysOf(keyring.keys);
    if (own) acts.push({ from, to: by.id, text, ...knownBy(keyring), isAfterRemoval: false, sig, t });
    return { from, sealed, isOfGuest: true };
  }

  /** Returns the item that the server hands to a device as a message. */
  async function messageFor(by: Party): Promise<Handed> {
    const item = chance.pick(server.posted);
    const act = item.kind === 'message' ? actOf(item, by) : null;
    const how = server.isHostile ? chance.pick(WAYS) : 'as it is';
    // Now and then the server tells the truth about rings. Then a device can refuse only by the message itself.
    if (how !== 'as it is' && chance.is(0.5)) server.isHostile = false;
    const messageId = crypto.randomUUID();
    const other = chance.pick(parties.filter((each) => each !== by)).id;
    const member = (by === ann ? bob : ann).id;
    switch (how) {
      case 'id':
        return { message: messageOf({ ...item, messageId }), act };
      case 'sender':
        return { message: messageOf({ ...item, from: other }), act: other === item.from ? act : null };
      case 'spoilt':
        return { message: messageOf({ ...item, sealed: spoilt(item.sealed, chance) }), act: null };
      case 'forged': {
        const about = { from: other, to: by.id, text: `forged ${seed}`, t: Date.now() };
        const sealed = (await unlessRefused(attacker.forge(server.rings.at(-1) ?? '', account, about))) ?? '';
        return { message: messageOf({ from: other, sealed, messageId }), act: null };
      }
      case 'removed': {
        const text = `late ${acts.length} ${seed}`;
        const { keyring: taken } = stolen;
        if (taken !== null)
          acts.push({
            from: mallory.id,
            to: by.id,
            text,
            ...knownBy(taken),
            isAfterRemoval: true,
            sig: (await publicKeysOf(taken.keys)).sig,
            t: null,
          });
        return {
          message: messageOf({ from: mallory.id, sealed: await byMallory(mallory.id, by.id, text), messageId }),
          act: null,
        };
      }
      case 'guest': {
        const { isOfGuest, ...about } = await ofGuest(by);
        return { message: messageOf({ ...about, messageId }), act: null, isOfGuest };
      }
      case 'removed as':
        return {
          message: messageOf({ from: member, sealed: await byMallory(member, by.id, `forged ${seed}`), messageId }),
          act: null,
        };
      default:
        return { message: messageOf(item), act };
    }
  }

  /** Finds what a device wrote for this device; null for anything else. */
  function actOf({ sealed, from, to }: Posted, by: Party): Act | null {
    // Only members open a text that was sealed once for all.
    const isFor = to === by.id || (to === '*' && !guests.isGuest(by.id));
    return from === by.id || !isFor ? null : (written.get(sealed) ?? null);
  }

  return { messageFor, actOf };
}
