import { sealTransfer } from '../../../shared/client/sealed/content/transfers.ts';
import { sealedSizeOf } from '../../../shared/client/sealed/content/records.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { readRing } from '../../../shared/client/sealed/ring/ring.ts';
import type { Transfer } from '../../../shared/client/wire.ts';
import { spoilt } from './chance.ts';
import { type Party, unlessRefused } from './party.ts';
import type { Held } from './relay.ts';
import type { Run } from './run.ts';

/** How the server shows an offer. */
const WAYS = [
  ...['as it is', 'as it is', 'as it is', 'as it is', 'names', 'plain', 'id', 'sender', 'spoilt', 'of another'],
  ...['size', 'fewer', 'more', 'swapped', 'forged', 'removed', 'removed as', 'guest'],
] as const;

type Files = NonNullable<Transfer['files']>;

/** An offer as the server shows it to a device. */
export interface ShownOffer {
  readonly view: Transfer;
  readonly how: string;
  /** It has what the sender sealed, under its name, and the files and the id that belong to it. */
  readonly isGenuine: boolean;
}

/** Changes the list of files that is beside the sealed content. */
function otherFiles(how: string, files: Files): Files {
  const [first, ...others] = files as [Files[0], ...Files];
  if (how === 'size') return [{ ...first, size: first.size + 1 }, ...others];
  if (how === 'fewer') return files.slice(0, -1);
  if (how === 'more') return [...files, { ...first, index: files.length }];
  return files.length === 1 ? [{ ...first, index: 1 }] : files.toReversed();
}

/** Shows devices the offers that the server has, and those that it makes with the keys that it has. */
export function makeShownOffers(run: Run) {
  const { chance, server, attacker, account, guests, parties, ann, bob, mallory, stolen } = run;
  const { held } = server.relay;

  /** Seals files in the name of a device with keys that the server has. */
  async function forged(how: string, by: Party): Promise<{ from: string; sealed: string } | null> {
    const member = (by === ann ? bob : ann).id;
    const files = [{ name: 'forged', type: '', size: 5 }];
    const seal = async (keyring: Keyring, from: string) => {
      const own = { ...keyring, device_id: from };
      const made = await unlessRefused(sealTransfer(own, { to: by.id, files, t: Date.now() }));
      return { from, sealed: made?.sealed ?? '' };
    };
    if (how === 'guest') {
      const keyring = guests.keyringFor(by);
      return keyring === null || keyring.device_id === member ? null : seal(keyring, member);
    }
    if (how !== 'forged') {
      return stolen.keyring === null ? null : seal(stolen.keyring, how === 'removed' ? mallory.id : member);
    }
    const ring = await readRing(server.rings.at(-1) ?? '', account);
    const known = { rings: [ring], ring, guests: [], seen: 0, removed: new Set<string>(), accountKeys: [] };
    return seal(
      { ...known, keys: attacker.keys, account: { ...account, device_id: member }, device_id: member },
      member,
    );
  }

  /** The server gives the same transfer another id. */
  function renamed({ transfer, ...one }: Held): Transfer {
    const other = { ...transfer, transfer_id: crypto.randomUUID() };
    held.set(other.transfer_id, { ...one, transfer: other });
    return other;
  }

  /** Returns an offer as the server shows it to this device. */
  async function showTo(by: Party, one: Held): Promise<ShownOffer> {
    const { transfer } = one;
    const how = server.isHostile ? chance.pick(WAYS) : 'as it is';
    // Now and then the server tells the truth about rings. Then a device can refuse only by the offer itself.
    if (how !== 'as it is' && chance.is(0.5)) server.isHostile = false;
    const view = (lie: Partial<Transfer>): ShownOffer => ({ view: { ...transfer, ...lie }, how, isGenuine: false });
    const files = transfer.files as Files;
    switch (how) {
      case 'as it is':
        return { ...view({}), isGenuine: true };
      case 'names':
        return {
          ...view({ files: files.map((file) => ({ ...file, name: 'other.exe', type: 'a/b' })) }),
          isGenuine: true,
        };
      case 'plain':
        return view({ sealed: null });
      case 'id':
        return view(renamed(one));
      case 'sender':
        return view({
          sender: {
            device_id: chance.pick(parties.filter(({ id }) => id !== transfer.sender.device_id)).id,
            name: 'any',
          },
        });
      case 'spoilt':
        return view({ sealed: spoilt(transfer.sealed ?? '', chance) });
      case 'of another': {
        const { from, sealed } = chance.pick(server.posted);
        const isGenuine = sealed === transfer.sealed;
        return { ...view({ sealed, sender: { device_id: from, name: 'any' } }), isGenuine };
      }
      case 'size':
      case 'fewer':
      case 'more':
      case 'swapped': {
        const shown = otherFiles(how, files);
        return view({ files: shown, file_count: shown.length });
      }
      default: {
        const made = await forged(how, by);
        if (made === null) return { ...view({}), isGenuine: true };
        const shown = [{ ...(files[0] as Files[0]), index: 0, size: sealedSizeOf(5) }];
        const sender = { device_id: made.from, name: 'any' };
        return view({ sealed: made.sealed, sender, files: shown, file_count: 1 });
      }
    }
  }

  return { showTo };
}
