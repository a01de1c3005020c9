import { sealClipboard } from '../../../shared/client/sealed/content/clipboard.ts';
import { sealMessage } from '../../../shared/client/sealed/content/messages.ts';
import { type DeviceKeys, publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { hashOf } from '../../../shared/client/sealed/ring/ring.ts';
import { opens } from './acts.ts';
import type { Chance } from './chance.ts';
import { type Lists, listOf } from './lists.ts';
import { currentOf, type Party, unlessRefused } from './party.ts';
import type { HostileServer } from './hostile-server.ts';
import type { Posted } from './passed.ts';

/** With this access a device has no key of the account. */
export const HOUR = { scope: 'full', persist: 'once' } as const;
/** Two devices may be this far apart in the time of a text and of its guest's end. */
const SLACK_MS = 5_000;

interface Parts {
  readonly chance: Chance;
  readonly server: HostileServer;
  /** The devices that may come as guests. */
  readonly all: readonly Party[];
  readonly approvers: readonly Party[];
  readonly lists: Lists;
  readonly fail: (what: string) => never;
}

/** A text that the server makes with the keys of a guest. */
export interface OfGuest {
  readonly from: string;
  readonly sealed: string;
  /** The guest could have written it: it is genuine by the keys that it has, or had. */
  readonly own: boolean;
  readonly keyring: Keyring;
  /** The time that the text names. */
  readonly t: number;
}

/** The sender of a text, as a device shows it. */
interface Shown {
  readonly device_id: string;
  readonly kind: string;
  readonly isRemoved: boolean;
}

const isIn = ({ rings }: Keyring, hash: string): boolean => rings.some((ring) => hashOf(ring) === hash);

/** The guests of a run, and the judge's knowledge of what they may. Each guest helps the server once it was let in. */
export function makeGuests({ chance, server, all, approvers, lists, fail }: Parts) {
  /** The guests that are in. */
  const visiting: Party[] = [];
  /** The guests that were removed, with the ring that says so, if one does. */
  const removed: Party[] = [];
  const goneAt = new Map<string, string>();
  /** The keyrings of all that were ever in, which the server has from them, with each pair of keys that they had. */
  const taken: [string, Keyring][] = [];
  const cameAt = new Map<string, number>();
  const isGuest = (id: string): boolean => all.some((each) => each.id === id);
  const isGoneBy = (keyring: Keyring, id: string): boolean => isIn(keyring, goneAt.get(id) ?? '');

  /** All pairs of keys that a guest has or had, including those of an approval that is under way, or has failed. */
  async function pairsOf({ id, stores }: Party): Promise<DeviceKeys[]> {
    const records = [await stores.keys.load(), await stores.asking.load()];
    const earlier = taken.flatMap(([owner, { keys }]) => (owner === id ? [keys] : []));
    return [...records.flatMap((record) => (record === null ? [] : [record.keys])), ...earlier];
  }

  /** Checks what a guest can open with one of its pairs. The newest list that its sender knows has to name that pair. */
  async function checkPair(by: Party, posted: Posted, keyring: Keyring, { id, device }: Party, keys: DeviceKeys) {
    const entries = lists.entriesOf(by, keyring, id);
    if (posted.to !== id) fail(`${device.name}, a guest, can open what is not for it`);
    if (isGoneBy(keyring, id)) fail(`sealed for ${device.name}, a guest that the ring says was removed`);
    if (by.mustNotReach.has(id)) fail(`sealed for ${device.name}, a guest that this device knows to be removed`);
    if (entries.length === 0) return;
    const { enc } = await publicKeysOf(keys);
    const named = entries.filter((entry) => entry?.enc === enc);
    if (named.length === 0) fail(`sealed for keys that ${device.name}, a guest, has replaced`);
    if (named.every((entry) => entry !== null && entry.until < Date.now() - SLACK_MS))
      fail(`sealed for ${device.name}, a guest whose time was over`);
  }

  return {
    visiting,
    isGuest,
    isGoneBy,
    canCome: (): Party | null => all.find((each) => !visiting.includes(each) && !removed.includes(each)) ?? null,

    /** Tells whether a guest was in before this act. An approval that failed may have named earlier keys of it. */
    wasIn: (id: string, act: number): boolean => act >= (cameAt.get(id) ?? 0),

    /** Notes a guest that was let in, or got other keys, after this many acts. From then on the server has its keys. */
    async came(guest: Party, acts: number): Promise<void> {
      if (!visiting.includes(guest)) visiting.push(guest);
      cameAt.set(guest.id, acts);
      const keyring = await currentOf(guest);
      if (keyring === null) return;
      if (keyring.accountKeys.length > 0) fail(`${guest.device.name}, a guest, has a key of the account`);
      taken.push([guest.id, keyring]);
      server.guestSigners.push(keyring.keys);
    },

    /** Takes the keys of a guest away, as a browser does. The server has them. */
    async loseKeys(guest: Party): Promise<void> {
      await guest.stores.keys.clear();
      guest.heads.clear();
      guest.mustNotReach.clear();
      guest.keyring = null;
      lists.forget(guest);
    },

    /**
     * Lets a member take a guest out, because its user says so. That member never seals for the guest again, whatever it is
     * shown.
     */
    async remove(): Promise<{ by: Party; id: string } | null> {
      const [by, guest] = [chance.pick(approvers), chance.pick(visiting)];
      const keyring = await unlessRefused(by.sealing.linking.remove([guest.id]));
      if (keyring === null) return null;
      visiting.splice(visiting.indexOf(guest), 1);
      removed.push(guest);
      goneAt.set(guest.id, hashOf(keyring.ring));
      by.mustNotReach.add(guest.id);
      by.keyring = keyring;
      return { by, id: guest.id };
    },

    /** Tells a device that a guest was removed or has logged out, as its stream does. No ring names who logs out. */
    async tell(by: Party): Promise<{ by: Party; id: string } | null> {
      const gone = chance.pick([...removed, ...visiting]);
      const at = visiting.indexOf(gone);
      if (gone === undefined || gone === by) return null;
      if (at >= 0) removed.push(...visiting.splice(at, 1));
      const { id } = gone;
      // A device that has lost its keys notes nothing.
      if ((await unlessRefused(by.sealing.rings.noteRemoved(id).then(() => true))) === null) return null;
      by.mustNotReach.add(id);
      by.keyring = null;
      return { by, id };
    },

    /** Checks what a device has just sealed: each guest opens only what is for it, and nothing once it is out. */
    async checkSealed(by: Party, posted: Posted, keyring: Keyring): Promise<void> {
      for (const guest of all) {
        if (guest.id === by.id) continue;
        for (const keys of await pairsOf(guest)) {
          if (await opens(posted, { ...keyring, keys, accountKeys: [] }))
            await checkPair(by, posted, keyring, guest, keys);
        }
      }
    },

    /** Checks how the sender of a text is shown, by what the device knows. `sig`: the key that has signed. */
    checkSender(
      by: Party,
      keyring: Keyring,
      { device_id: id, kind, isRemoved }: Shown,
      { t, sig }: { t: number; sig: string },
    ) {
      if ((kind === 'guest') !== isGuest(id)) fail(`${by.device.name} shows a guest as a member`);
      if (!isGuest(id)) return;
      const entries = lists.entriesOf(by, keyring, id);
      const named = entries.filter((entry) => entry?.sig === sig);
      if (entries.length > 0 && named.length === 0) fail(`${by.device.name} shows a guest by keys that are on no list`);
      const isOver = named.length > 0 && named.every((entry) => entry !== null && t >= entry.until);
      const isOut = isOver || isGoneBy(keyring, id) || by.mustNotReach.has(id);
      if (isOut && !isRemoved) fail(`${by.device.name} shows a removed guest as one that is in`);
    },

    /** Returns the keys of a guest, other than this one; null without one. */
    keyringFor(by: Party): Keyring | null {
      const known = taken.filter(([id]) => id !== by.id);
      return known.length === 0 ? null : chance.pick(known)[1];
    },

    /**
     * Makes a text for a device with the keys of a guest: as another device, by a ring that is not known, under its own name
     * with the keys that it has or had, or dated after its time.
     */
    async forge(by: Party, others: readonly string[], text: string): Promise<OfGuest | null> {
      const known = taken.filter(([id]) => id !== by.id);
      if (known.length === 0) return null;
      const [, keyring] = chance.pick(known);
      const { ring } = keyring;
      const newer = { ...ring, body: { ...ring.body, n: ring.body.n + 1 + chance.below(4) } };
      const how = chance.pick(['as', 'as', 'newer', 'own', 'ahead']);
      const posing = { ...keyring, device_id: chance.pick(others.filter((id) => id !== keyring.device_id)) };
      const own = how === 'as' ? posing : how === 'newer' ? { ...keyring, ring: newer } : keyring;
      const t = Date.now() + (how === 'ahead' ? 2 * 3_600_000 : 0);
      const sealed = await unlessRefused(sealMessage(own, { to: by.id, text, t }));
      return { from: own.device_id, sealed: sealed ?? '', own: how === 'own' || how === 'ahead', keyring, t };
    },

    /** Makes a clipboard that a guest signs, with a key of the account that a removed member took along. */
    async forgeClipboard(member: Keyring, text: string): Promise<{ from: string; sealed: string } | null> {
      if (taken.length === 0) return null;
      const [from, { keys }] = chance.pick(taken);
      const own = { ...member, device_id: from, keys };
      return { from, sealed: (await unlessRefused(sealClipboard(own, { text, t: Date.now() }))) ?? '' };
    },

    /** Tells whether the server, which is honest now, has this guest on its list with this key. */
    isListed: (text: string | null, { id, sig }: { id: string; sig: string }): boolean =>
      text !== null && listOf(text).guests.some((guest) => guest.device_id === id && guest.sig === sig),
  };
}
