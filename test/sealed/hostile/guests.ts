import { sealClipboard } from '../../../shared/client/sealed/content/clipboard.ts';
import { openMessage, sealMessage } from '../../../shared/client/sealed/content/messages.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import type { Guest } from '../../../shared/client/sealed/ring/guests.ts';
import { isGone, type Ring } from '../../../shared/client/sealed/ring/ring.ts';
import type { Chance } from './chance.ts';
import { currentOf, type Party, unlessRefused } from './party.ts';
import type { HostileServer, Posted } from './server.ts';

/** With this access a device has no key of the account. */
export const HOUR = { scope: 'full', persist: 'once' } as const;

interface Parts {
  readonly chance: Chance;
  readonly server: HostileServer;
  /** The devices that may come as guests. */
  readonly all: readonly Party[];
  readonly approvers: readonly Party[];
  readonly fail: (what: string) => never;
}

/** A text that the server makes with the keys of a guest. */
export interface OfGuest {
  readonly from: string;
  readonly sealed: string;
  /** The guest itself wrote it, after it was removed. */
  readonly late: boolean;
  readonly keyring: Keyring;
}

const isOpened = (own: Keyring, { from, to, sealed }: Posted): Promise<boolean> =>
  unlessRefused(openMessage(own, { from, to, sealed })).then((opened) => opened !== null);

/** The guests of a run, and the judge's knowledge of what they may. Each guest helps the server once it was let in. */
export function makeGuests({ chance, server, all, approvers, fail }: Parts) {
  /** The guests that are in. */
  const visiting: Party[] = [];
  /** The guests that were removed. */
  const removed: Party[] = [];
  /** The keyrings of all that were ever in, which the server has from them. */
  const taken = new Map<string, Keyring>();
  const cameAt = new Map<string, number>();
  const isGuest = (id: string): boolean => all.some((each) => each.id === id);

  async function opens(posted: Posted, own: Keyring): Promise<boolean> {
    if (posted.kind === 'clipboard') return false;
    return isOpened(own, posted);
  }

  return {
    visiting,
    isGuest,
    canCome: (): Party | null => all.find((each) => !visiting.includes(each) && !removed.includes(each)) ?? null,

    /** Tells whether a guest was in before this act. An approval that failed may have named earlier keys of it. */
    wasIn: (id: string, act: number): boolean => act >= (cameAt.get(id) ?? 0),

    /** Notes a guest that was let in after so many acts. From then on the server has its keys. */
    async came(guest: Party, acts: number): Promise<void> {
      visiting.push(guest);
      cameAt.set(guest.id, acts);
      const keyring = await currentOf(guest);
      if (keyring === null) return;
      taken.set(guest.id, keyring);
      server.guestSigners.push(keyring.keys);
    },

    /** Takes a guest out, by a member whose user says so. That member seals nothing for it any more, whatever it is shown. */
    async remove(): Promise<{ by: Party; id: string } | null> {
      const [by, guest] = [chance.pick(approvers), chance.pick(visiting)];
      if ((await unlessRefused(by.sealing.linking.remove([guest.id]))) === null) return null;
      visiting.splice(visiting.indexOf(guest), 1);
      removed.push(guest);
      by.mustNotReach.add(guest.id);
      return { by, id: guest.id };
    },

    /** Tells a device that a guest was removed or has logged out, as its stream does. No ring names who logs out. */
    async tell(by: Party): Promise<{ by: Party; id: string } | null> {
      const gone = chance.pick([...removed, ...visiting]);
      const at = visiting.indexOf(gone);
      if (gone === undefined || gone === by) return null;
      if (at >= 0) removed.push(...visiting.splice(at, 1));
      const { id } = gone;
      await by.sealing.rings.noteRemoved(id);
      by.mustNotReach.add(id);
      return { by, id };
    },

    /** Checks what a device has just sealed: each guest opens what is for it alone, and nothing once it is out. */
    async checkSealed(by: Party, posted: Posted, keyring: Keyring): Promise<void> {
      for (const { id, device, stores } of all) {
        const record = (await stores.keys.load()) ?? (await stores.asking.load());
        if (record === null || id === by.id) continue;
        if (!(await opens(posted, { ...keyring, keys: record.keys, accountKeys: [] }))) continue;
        if (posted.to !== id) fail(`${device.name}, a guest, can open what is not for it`);
        if (isGone(keyring.ring, id)) fail(`sealed for ${device.name}, a guest that the ring says was removed`);
        if (by.mustNotReach.has(id)) fail(`sealed for ${device.name}, a guest that this device knows to be removed`);
      }
    },

    /** Checks how the sender of a text is shown, by the ring that the device has. */
    checkSender(by: Party, ring: Pick<Ring, 'body'>, sender: { device_id: string; kind: string; isRemoved: boolean }) {
      const { device_id: id, kind, isRemoved } = sender;
      if ((kind === 'guest') !== isGuest(id)) fail(`${by.device.name} shows a guest as a member`);
      const isOut = isGuest(id) && (isGone(ring, id) || by.mustNotReach.has(id));
      if (isOut && !isRemoved) fail(`${by.device.name} shows a removed guest as one that is in`);
    },

    /** Makes a text for a device with the keys of a guest: as a member, or by a ring that does not exist, or late. */
    async forge(by: Party, as: Party, text: string): Promise<OfGuest | null> {
      const known = [...taken.entries()].filter(([id]) => id !== by.id);
      if (known.length === 0) return null;
      const [, keyring] = chance.pick(known);
      const { ring } = keyring;
      const newer = { ...ring, body: { ...ring.body, n: ring.body.n + 1 + chance.below(4) } };
      const how = chance.pick(['as', 'newer', 'late']);
      const own =
        how === 'as' ? { ...keyring, device_id: as.id } : how === 'newer' ? { ...keyring, ring: newer } : keyring;
      const about = { to: by.id, text, t: Date.now() };
      const sealed = await unlessRefused(sealMessage(own, about));
      return { from: own.device_id, sealed: sealed ?? '', late: how === 'late', keyring };
    },

    /** Makes a clipboard that a guest signs, with a key of the account that a removed member took along. */
    async forgeClipboard(member: Keyring, text: string): Promise<{ from: string; sealed: string } | null> {
      if (taken.size === 0) return null;
      const [from, { keys }] = chance.pick([...taken.entries()]);
      const own = { ...member, device_id: from, keys };
      return { from, sealed: (await unlessRefused(sealClipboard(own, { text, t: Date.now() }))) ?? '' };
    },

    /** Tells whether the server, which is honest now, has this guest on its list with this key. */
    isListed(text: string | null, { id, sig }: { id: string; sig: string }): boolean {
      if (text === null) return false;
      const list = JSON.parse(Buffer.from(text.split('.')[0] ?? '', 'base64url').toString()) as { guests: Guest[] };
      return list.guests.some((guest) => guest.device_id === id && guest.sig === sig);
    },
  };
}
