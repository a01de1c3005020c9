import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { memberOf } from '../../../shared/client/sealed/ring/ring.ts';
import type { SentText } from '../../../shared/client/sealing/api.ts';
import type { Device } from '../../../shared/client/wire.ts';
import { type Party, unlessRefused } from './party.ts';
import { check, type Run } from './run.ts';
import type { Posted } from './passed.ts';

const DAY_MS = 86_400_000;

const deviceOf = (device_id: string, name: string): Device => ({
  ...{ device_id, name, type: 'linux', online: true, current: false, created_at: 1, last_seen_at: null },
});

/** The messages of one call to send a text, and the report of the library on it. */
interface Written {
  readonly posted: readonly Posted[];
  readonly sent: SentText | null;
  /** Its user has allowed that the server reads it. */
  readonly isPlain: boolean;
}

/** Shows devices lists of the devices of the account, and checks what they conclude. */
export function makeListing({ chance, server, guests, mallory, dan, members, stolen, seen, known }: Run) {
  const real = (): Device[] => {
    const all = [...members, ...guests.visiting, ...(chance.is(0.3) && !members.includes(dan) ? [dan] : [])];
    return all.map(({ id, device }) => deviceOf(id, device.name));
  };

  /** Returns the devices as the server names them. */
  function told(): Device[] {
    const all = real();
    if (!server.isHostile || chance.is(0.5)) return all;
    switch (chance.pick(['removed', 'invented', 'gone', 'gone', 'names', 'kinds', 'twice', 'none'])) {
      case 'removed':
        return stolen.keyring === null ? all : [...all, deviceOf(mallory.id, 'Mallory')];
      case 'invented':
        return [...all, deviceOf('attacker', all[0]?.name ?? 'Phone')];
      case 'gone':
        return all.filter(() => chance.is(0.6));
      case 'names':
        return all.map((device, at) => ({ ...device, name: all[(at + 1) % all.length]?.name ?? '' }));
      case 'kinds':
        return all.map((device) => ({ ...device, type: 'shortcut', current: !device.current, last_seen_at: 1 }));
      case 'twice':
        return [...all, ...all.map((device) => ({ ...device, name: `${device.name} 2` }))];
      default:
        return [];
    }
  }

  /** A removal whose answer was lost is known only from the ring. */
  const isOutBy = ({ ring: { body } }: Keyring, id: string): boolean =>
    body.gone_guests?.some(({ device_id }) => device_id === id) === true;
  const isGuestIn = (by: Party, keyring: Keyring, id: string): boolean =>
    !by.mustNotReach.has(id) &&
    !isOutBy(keyring, id) &&
    keyring.guests.some((each) => each.device_id === id && each.until > Date.now());
  const isKeyed = (by: Party, keyring: Keyring, id: string): boolean =>
    memberOf(keyring.ring, id) !== null || isGuestIn(by, keyring, id);

  return {
    told,

    /** Checks which devices got a text without encryption, and which ones the result names as left out. */
    checkReaders(by: Party, keyring: Keyring, { posted, sent, isPlain }: Written): void {
      for (const { plain, to } of posted) {
        check(plain === '' || isPlain, 'the server reads a text, and no user has said so');
        check(plain === '' || !isKeyed(by, keyring, to), `the server reads a text for ${to}, a device with keys`);
      }
      for (const { device_id: id } of sent?.unkeyed ?? [])
        check(!isKeyed(by, keyring, id), 'a device with keys is said to have none');
    },

    /** Shows a device a list of devices twice, with a changed time in between. No device was away for 90 days. */
    async list(by: Party): Promise<void> {
      const keyring = await known(by);
      if (keyring === null) return;
      const [listed, isLying] = [chance.is(0.5) ? real().filter(() => chance.is(0.6)) : told(), server.isHostile];
      server.isHostile = false;
      const [first, second] = chance.pick([
        [0, 0],
        [0, 91 * DAY_MS],
        [-91 * DAY_MS, 0],
        [0, -91 * DAY_MS],
      ] as const);
      for (const ms of [first, second]) {
        server.clockMs = isLying ? ms : 0;
        // The answer tells the time, and changes nothing else.
        await unlessRefused(by.sealing.deletions.pending());
        const leaving = await by.sealing.rings.noteListed(keyring, listed);
        const isTold = (id: string) => id === mallory.id && by.hasHeard;
        check(leaving.every(isTold), 'a member is to leave, and nobody has removed it');
      }
      server.clockMs = 0;
      await unlessRefused(by.sealing.deletions.pending());
      seen.lists += 1;
    },
  };
}
