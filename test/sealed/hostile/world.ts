import { openClipboard } from '../../../shared/client/sealed/content/clipboard.ts';
import { openMessage, sealMessage } from '../../../shared/client/sealed/content/messages.ts';
import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { hashOf, memberOf } from '../../../shared/client/sealed/ring/ring.ts';
import type { LetIn, LetInSettings, ReceivedText } from '../../../shared/client/sealing/api.ts';
import { makeAsking, readKeyedLink } from '../../../shared/client/sealing/asking.ts';
import type { Guest } from '../../../shared/client/sealed/ring/guests.ts';
import type { Device, Message } from '../../../shared/client/wire.ts';
import { makeDevice, randomUser } from '../../support/device.ts';
import type { ReplicaProcess } from '../../support/replicas.ts';
import { type Attacker, type AccountName, makeAttacker } from './attacker.ts';
import { chanceOf, spoilt } from './chance.ts';
import { makeGuests } from './guests.ts';
import { makeLists } from './lists.ts';
import { areOnOneChain, chainOf, currentOf, type Link, makeParty, type Party, unlessRefused } from './party.ts';
import { makeHostileServer, numberOf, type Posted } from './server.ts';

/** A text that a device has written, or that the server forged with the keys of the removed device. */
interface Act {
  readonly from: string;
  /** The id of a device, `*`, or `''` for the clipboard. */
  readonly to: string;
  readonly text: string;
  readonly chain: readonly Pick<Link, 'n' | 'hash'>[];
  readonly epoch: number;
  readonly isAfterRemoval: boolean;
  /** The key with which its sender has signed. */
  readonly sig: string;
  /** The time that it names; null: about when it was made. */
  readonly t: number | null;
  /** The guests as its sender knew them. */
  readonly guests: readonly Guest[];
}

/** An item that the server hands to a device. */
interface Handed {
  readonly message: Message;
  /** The act of the device that wrote it; null for anything else. */
  readonly act: Act | null;
  /** The server made it with the keys of a guest. */
  readonly isOfGuest?: boolean;
  /** The device has not looked for a newer list of guests. */
  readonly isBusy?: boolean;
}

/** What was seen in one run. */
export interface Seen {
  opened: number;
  waits: number;
  refused: number;
  stopped: number;
  sent: number;
  healed: number;
  disagreed: number;
  /** Texts that were sealed for a guest, and opened from one. */
  toGuests: number;
  fromGuests: number;
  /** Guests that got other keys, and older lists that were shown after that. */
  rekeyed: number;
  olderLists: number;
}

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

/** Returns a posted item as the server hands it out. */
export const messageOf = (about: Pick<Posted, 'from' | 'sealed' | 'messageId'>): Message => ({
  ...{ message_id: about.messageId, from_device_id: about.from, from_name: 'any', content: '' },
  ...{ sealed: about.sealed, created_at: Date.now(), redelivered: false },
});

function fail(what: string): never {
  throw new Error(what);
}
const check = (isTrue: boolean, what: string): void => void (isTrue || fail(what));
const chainIn = ({ rings }: Keyring) => rings.map((ring) => ({ n: ring.body.n, hash: hashOf(ring) }));
/** An act keeps this of the keyring that it used. */
const knownBy = (keyring: Keyring) => ({
  chain: chainIn(keyring),
  epoch: keyring.ring.body.epoch,
  guests: keyring.guests,
});

/** An account behind a hostile server: three devices, of which one is removed, one that comes later, and two guests. */
export async function makeWorld(seed: number, replica: ReplicaProcess) {
  const chance = chanceOf(seed);
  const user = randomUser();
  const devices = ['Ann', 'Bob', 'Mallory', 'Dan', 'Gina', 'Hugo'].map((name) => makeDevice({ user, name }));
  for (const device of devices) await device.on(replica).call('getMe');
  const { service = '' } = (await (devices[0] as (typeof devices)[0]).on(replica).call('getMe')).body;
  const [account, attacker]: [AccountName, Attacker] = [{ service, user_id: user }, await makeAttacker()];
  const server = makeHostileServer({ chance, replica, attacker, account });
  const parties = devices.map((device) => makeParty(device, server));
  const [ann, bob, mallory, dan] = parties as [Party, Party, Party, Party];
  const lists = makeLists({ server, account });
  const guests = makeGuests({ chance, server, all: parties.slice(4), approvers: [ann, bob], lists, fail });
  const acts: Act[] = [];
  const written = new Map<string, Act>();
  const admitted = new Set<string>();
  const seen: Seen = {
    opened: 0,
    waits: 0,
    refused: 0,
    stopped: 0,
    sent: 0,
    healed: 0,
    disagreed: 0,
    toGuests: 0,
    fromGuests: 0,
    rekeyed: 0,
    olderLists: 0,
  };
  const members = [ann, bob, mallory];
  /** What the removed device took along. */
  let taken: Keyring | null = null;

  const admit = async ({ stores }: Party, from: 'keys' | 'asking'): Promise<void> => {
    const record = await stores[from].load();
    const { enc, sig } = await publicKeysOf((record ?? fail('no keys')).keys);
    admitted.add(`${enc} ${sig}`);
  };
  const listed = (): Device[] =>
    [...members, ...guests.visiting].map(({ id, device }) => ({
      device_id: id,
      name: device.name,
    })) as Device[];
  /** Walks to the newest ring, and notes which list of guests the device has got. */
  async function known(by: Party): Promise<Keyring | null> {
    const keyring = await currentOf(by);
    if (keyring !== null) lists.note(by, keyring);
    by.keyring = keyring;
    return keyring;
  }
  /** The devices as the server names them. */
  function told(): Device[] {
    const all = listed();
    if (!server.isHostile || chance.is(0.6)) return all;
    if (taken !== null && chance.is(0.5)) return [...all, { device_id: mallory.id, name: 'Mallory' } as Device];
    if (chance.is(0.5)) return [...all, { device_id: 'attacker', name: 'Phone' } as Device];
    return all.filter(() => chance.is(0.7));
  }

  /** Lets a device in with its code, as two users do. The server may show other keys. */
  async function link(approver: Party, asking: Party, access: LetInSettings = {}): Promise<boolean> {
    const made = await makeAsking(asking.stores);
    if (access.persist !== 'once') await admit(asking, 'asking');
    const [request_id, approval_code] = ['r'.repeat(22), 'c'.repeat(22)];
    const code = readKeyedLink(await made.linkWith(`https://baton.example/link?r=${request_id}&c=${approval_code}`));
    const own = await publicKeysOf(attacker.keys);
    const isSwapped = server.isHostile && chance.is(0.4);
    const keys = isSwapped
      ? chance.pick([own, { ...made.keys, enc: own.enc }, { ...made.keys, sig: own.sig }])
      : made.keys;
    const view = {
      request_id,
      device_name: 'Dan',
      device_type: 'linux',
      expires_at: Date.now() + 60_000,
      age_seconds: 1,
    };
    const source = { address: '127.0.0.0/24', user_agent: 'any' };
    const allowed = { allowed_scopes: ['full'], allowed_persist: ['persist'] };
    server.asking = { ...view, source, ...allowed, device_id: asking.id, keys };
    const key = code?.key ?? fail('no key in the code');
    const letIn = await unlessRefused(approver.sealing.linking.letIn({ request_id, approval_code }, key, access));
    if (letIn === null) return false;
    check(!isSwapped, 'a device was let in with the keys of somebody else');
    lists.note(approver, letIn.keyring);
    approver.keyring = letIn.keyring;
    if (access.persist === 'once' && chance.is(0.3)) await endSession(approver, letIn);
    const isSpoilt = server.isHostile && chance.is(0.3);
    await made.keep(request_id, isSpoilt ? spoilt(server.granted ?? '', chance) : server.granted);
    const linked = await unlessRefused(asking.sealing.rings.takeGrant());
    if (linked === null) return false;
    check(!isSpoilt, 'a spoilt grant was taken');
    check(linked.checkCode === letIn.checkCode && linked.approver === approver.id, 'the two show different digits');
    return true;
  }

  /** Ends the time of a guest, as its approver does that learns the end of its session. */
  async function endSession(by: Party, { endsWithSession }: LetIn): Promise<void> {
    server.sessionEnd = Date.now() - 60_000;
    const keyring = await unlessRefused(endsWithSession());
    server.sessionEnd = null;
    if (keyring !== null) lists.note(by, keyring);
    by.keyring = keyring;
  }

  /**
   * Checks what a device has just sealed: not for the attacker, and not for the removed device once its ring is without it. A
   * device that has heard of the removal waits for such a ring; a device that is only not listed keeps its place.
   */
  async function checkSealed(by: Party, posted: Posted, keyring: Keyring): Promise<void> {
    const opensWith = async (own: Keyring): Promise<boolean> => {
      const { sealed, from, to } = posted;
      const about = { sealed, from };
      return (
        (await unlessRefused(
          to === '' ? openClipboard(own, { ...about, now: Date.now() }) : openMessage(own, { ...about, to }),
        )) !== null
      );
    };
    check(!(await opensWith({ ...keyring, keys: attacker.keys, accountKeys: [] })), 'sealed for the attacker');
    await guests.checkSealed(by, posted, keyring);
    if (taken === null) return;
    const isIn = memberOf(keyring.ring, mallory.id) !== null;
    // Who is kept behind, at a ring from before the removed device joined, has the key that it got then.
    const isBefore = keyring.ring.body.n < (memberOf(taken.ring, mallory.id)?.since ?? 0);
    check(
      isIn || isBefore || !(await opensWith({ ...taken, rings: keyring.rings, ring: keyring.ring })),
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

  const byMallory = async (from: string, to: string, text: string): Promise<string> => {
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

  /** What the server hands to a device as a message. */
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

  /** Finds what a device wrote, where it is for this device: null for anything else. */
  function actOf({ sealed, from, to }: Posted, by: Party): Act | null {
    // Members alone open what was sealed once for all.
    const isFor = to === by.id || (to === '*' && !guests.isGuest(by.id));
    return from === by.id || !isFor ? null : (written.get(sealed) ?? null);
  }

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

  /** Checks what a device did not open. What is genuine waits, or was shown before. */
  async function checkKept(by: Party, keyring: Keyring, act: Act, received: ReceivedText): Promise<void> {
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

  /** A removal whose response was cut off has happened all the same. */
  const hasLeft = (by: Party, { ring }: Keyring): boolean => by === mallory && memberOf(ring, by.id) === null;

  /** Tells whether the guests of an act are in. A guest that a device finds on no list is nobody to it. */
  const isGuestKnown = async (by: Party, act: Act): Promise<boolean> =>
    guests.wasIn(by.id, acts.indexOf(act)) && (!guests.isGuest(act.from) || isOnList(act.from, act.sig));

  /** Tells whether a guest is in, and an honest server says so, with the key of the guest, to whoever asks. */
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

  /** Tells a device of the removal, as its stream does; a server may also keep that to itself. */
  async function tellRemoved(by: Party): Promise<void> {
    if ((await unlessRefused(by.sealing.rings.noteRemoved(mallory.id).then(() => true))) === null) return;
    by.hasHeard = true;
    by.keyring = null;
  }

  async function look(by: Party): Promise<void> {
    const keyring = await known(by);
    // Mallory helps with the key of the account, and a guest signs.
    const member = server.isHostile && chance.is(0.5) ? (taken ?? (await currentOf(mallory))) : null;
    const forged = member === null ? null : await guests.forgeClipboard(member, `of a guest ${seed}`);
    const entries = forged === null ? server.posted.filter(({ kind }) => kind === 'clipboard') : [forged];
    if (keyring === null || entries.length === 0) return;
    const item = chance.pick<{ from: string; sealed: string }>(entries);
    const isSpoilt = server.isHostile && chance.is(0.3);
    const from = server.isHostile && chance.is(0.3) ? chance.pick([ann, bob, mallory]).id : item.from;
    const sealed = isSpoilt
      ? spoilt(item.sealed, chance)
      : chance.is(0.1) && server.posted.length > 0
        ? chance.pick(server.posted).sealed
        : item.sealed;
    const about = {
      content: '',
      content_type: 'text/plain',
      source_device_name: 'any',
      updated_at: 1,
      expires_at: null,
    } as const;
    const received = await by.sealing.texts.openClipboard(keyring, {
      ...about,
      sealed,
      source_device_id: from,
    });
    if (received.kind !== 'opened') return void (seen.refused += 1);
    seen.opened += 1;
    const place = acts.findIndex(
      ({ text, from: author, to }) => text === received.text && author === received.sender.device_id && to === '',
    );
    check(place >= 0 && received.sender.device_id === from, 'a clipboard is shown that nobody made');
    const newest = by.clipboards.get(from) ?? -1;
    check(place >= newest, 'a clipboard is shown that is older than the one before it');
    by.clipboards.set(from, place);
  }

  return {
    ...{ guests, lists, parties, known },
    ...{ chance, server, attacker, seen, ann, bob, mallory, dan, members, account, admitted, replica },
    acts,
    link,
    write,
    deliver,
    messageFor,
    look,
    tellRemoved,
    admit,
    actOf,
    take: (keyring: Keyring) => void (taken = keyring),
    hasTaken: () => taken !== null,
  };
}

export type World = Awaited<ReturnType<typeof makeWorld>>;
