import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { memberOf } from '../../../shared/client/sealed/ring/ring.ts';
import type { ReceivedFiles, ReceivedText } from '../../../shared/client/sealing/api.ts';
import { type Act, chainIn, type Handed } from './acts.ts';
import { areOnOneChain, chainOf, type Party } from './party.ts';
import { check, type Run } from './run.ts';
import { numberOf } from './lies.ts';

/** Hands messages to devices, and checks what they show, and what they do with the rest. */
export function makeOpening(run: Run) {
  const { chance, server, account, guests, admitted, ann, mallory, replica, acts, seen, known } = run;

  async function checkOpened(
    by: Party,
    keyring: Keyring,
    { text, sender }: Extract<ReceivedText, { kind: 'opened' }>,
  ): Promise<void> {
    const act = acts.find(
      (each) => each.text === text && each.from === sender.device_id && (each.to === by.id || each.to === '*'),
    );
    check(act !== undefined, `${by.device.name} shows what nobody wrote to it: ${text}`);
    check(!by.shown.has(text), `${by.device.name} shows a text twice`);
    const own = (await chainOf(by, account, admitted)).at(-1);
    const isOut = own?.body.members.every(({ device_id }) => device_id !== mallory.id) === true;
    check(act?.isAfterRemoval !== true || !isOut || sender.isRemoved, 'a removed device is shown as a member');
    guests.checkSender(by, keyring, sender, { sig: act?.sig ?? '', t: act?.t ?? 0 });
    if (sender.kind === 'guest') seen.fromGuests += 1;
    by.shown.add(text);
  }

  const newestOf = async ({ stores }: Party): Promise<number> =>
    Math.max(0, ...((await stores.keys.load())?.rings ?? []).map(numberOf));

  /** Returns the ring that a device does not know, and believes in because somebody named it; 0 without one. */
  async function namedTo(by: Party): Promise<number> {
    const { seen: named = 0 } = (await by.stores.keys.load()) ?? {};
    return named > (await newestOf(by)) ? named : 0;
  }

  /** Hands a message to a device. Returns whether it was opened. */
  async function deliver(by: Party, { message, act, isOfGuest = false, ...handed }: Handed): Promise<boolean> {
    const isBusy = handed.isBusy ?? (!server.isHostile && chance.is(0.5));
    const isNewest = by.keyring?.ring.body.n === (await newestOf(by));
    const keyring = (isBusy && isNewest ? by.keyring : null) ?? (await known(by));
    if (keyring === null) return false;
    const before = await namedTo(by);
    const received = await by.sealing.texts.open(keyring, message);
    check(!isOfGuest || (await namedTo(by)) <= before, `a guest makes ${by.device.name} believe in a ring`);
    if (received.kind === 'opened') {
      seen.opened += 1;
      await checkOpened(by, keyring, received);
      await by.sealing.texts.shown(keyring, message);
      return true;
    }
    if (received.kind === 'waits') seen.waits += 1;
    if (received.kind === 'refused') seen.refused += 1;
    if (act !== null) await checkKept(by, keyring, act, received);
    return false;
  }

  /** Checks content that a device did not open. Genuine content waits, or was shown before. */
  async function checkKept(
    by: Party,
    keyring: Keyring,
    act: Act,
    received: ReceivedText | Extract<ReceivedFiles, { kind: 'waits' | 'refused' }>,
  ): Promise<void> {
    if (!areOnOneChain(chainIn(keyring), act.chain) || hasLeft(by, keyring)) return;
    const named = act.chain.at(-1)?.n ?? 0;
    const isKnown = act.epoch <= keyring.ring.body.epoch && memberOf(keyring.ring, act.from) !== null;
    if (received.kind === 'waits' && isKnown && named > keyring.ring.body.n) by.mustKnow = Math.max(by.mustKnow, named);
    const isEarlier = named < (keyring.rings[0]?.body.n ?? 0);
    if (!(await isGuestKnown(by, act))) return;
    if (received.kind === 'refused' && (await isForOtherKeys(by, act))) return;
    const isKept = received.kind === 'waits' || by.shown.has(act.text) || isEarlier;
    check(
      isKept,
      `${by.device.name} lost what is genuine: ${received.kind === 'refused' ? received.problem.code : received.kind}`,
    );
  }

  /** A removal whose response was cut off has still happened. */
  const hasLeft = (by: Party, { ring }: Keyring): boolean => by === mallory && memberOf(ring, by.id) === null;

  /** Tells whether the guests of an act are in. A device ignores a guest that it finds on no list. */
  const isGuestKnown = async (by: Party, act: Act): Promise<boolean> =>
    guests.wasIn(by.id, acts.indexOf(act)) && (!guests.isGuest(act.from) || isOnList(act.from, act.sig));

  /** Tells whether a guest is in, and an honest server says so, with the key of the guest, to any device that asks. */
  async function isOnList(id: string, sig: string): Promise<boolean> {
    if (server.isHostile || guests.visiting.every((each) => each.id !== id)) return false;
    return guests.isListed((await ann.device.on(replica).call('getKeys')).body.guests, { id, sig });
  }

  /**
   * Tells whether a text was sealed for keys that a guest had before: those of an approval that failed, by a list that the
   * server shows again. The guest has to say that it cannot open it.
   */
  async function isForOtherKeys(by: Party, act: Act): Promise<boolean> {
    const [guest, record] = [act.guests.find(({ device_id }) => device_id === by.id), await by.stores.keys.load()];
    return guest !== undefined && record !== null && guest.enc !== (await publicKeysOf(record.keys)).enc;
  }

  return { deliver, checkKept };
}
