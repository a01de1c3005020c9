import { publicKeysOf } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { makeDevice, randomUser } from '../../support/device.ts';
import type { ReplicaProcess } from '../../support/replicas.ts';
import type { Act } from './acts.ts';
import { type Attacker, type AccountName, makeAttacker } from './attacker.ts';
import { chanceOf } from './chance.ts';
import { makeGuests } from './guests.ts';
import { makeLists } from './lists.ts';
import { currentOf, makeParty, type Party } from './party.ts';
import { makeHostileServer } from './server.ts';

/** Counts of what happened in one run. */
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
  /** Lists from before the end of a guest that were shown after it. */
  endsHidden: number;
  /** Transfers that were sent, shown, completed and stopped, programs that went on with one, and signals that were taken. */
  offered: number;
  openedFiles: number;
  refusedFiles: number;
  received: number;
  stoppedFiles: number;
  resumed: number;
  signals: number;
  /** Lists of devices that were shown, objections to a removal, and times at which the server had no keys. */
  lists: number;
  objections: number;
  hidden: number;
  /** Devices that got in by recovery words, and forged rings that were shown to such a device. */
  recovered: number;
  forgedChains: number;
  /** Texts that users let the server read. */
  plain: number;
}

/** Fails the run of this seed. */
export function fail(what: string): never {
  throw new Error(what);
}
export const check = (isTrue: boolean, what: string): void => void (isTrue || fail(what));

const NAMES = ['Ann', 'Bob', 'Mallory', 'Dan', 'Gina', 'Hugo'];

/**
 * Makes an account behind a hostile server, and the notes of its judge. The account has three devices, one of which is
 * removed, another one that comes later, and two guests.
 */
export async function makeRun(seed: number, replica: ReplicaProcess) {
  const chance = chanceOf(seed);
  const user = randomUser();
  const devices = NAMES.map((name) => makeDevice({ user, name }));
  for (const device of devices) await device.on(replica).call('getMe');
  const { service = '' } = (await (devices[0] as (typeof devices)[0]).on(replica).call('getMe')).body;
  const [account, attacker]: [AccountName, Attacker] = [{ service, user_id: user }, await makeAttacker()];
  const server = makeHostileServer({ chance, replica, attacker, account });
  const parties = devices.map((device) => makeParty(device, server));
  const [ann, bob, mallory, dan] = parties as [Party, Party, Party, Party];
  const lists = makeLists({ server, account });
  const guests = makeGuests({ chance, server, all: parties.slice(4), approvers: [ann, bob], lists, fail });
  const admitted = new Set<string>();
  const seen: Seen = {
    ...{ opened: 0, waits: 0, refused: 0, stopped: 0, sent: 0, healed: 0, disagreed: 0 },
    ...{ toGuests: 0, fromGuests: 0, rekeyed: 0, olderLists: 0, endsHidden: 0 },
    ...{ offered: 0, openedFiles: 0, refusedFiles: 0, received: 0, stoppedFiles: 0, resumed: 0, signals: 0 },
    ...{ lists: 0, objections: 0, hidden: 0, plain: 0, recovered: 0, forgedChains: 0 },
  };
  /** The keys that the removed device took along. */
  const stolen: { keyring: Keyring | null } = { keyring: null };

  return {
    ...{ seed, replica, chance, account, attacker, server, parties, ann, bob, mallory, dan, lists, guests },
    ...{ admitted, seen, stolen },
    /** The devices that are in the ring by the will of their users. */
    members: [ann, bob, mallory],
    /** All texts that devices have written, oldest first, and those that the server made with stolen keys. */
    acts: [] as Act[],
    /** Faults that were found while the server answered. */
    faults: [] as string[],
    /** The act of each envelope. */
    written: new Map<string, Act>(),

    /** Notes the keys of a device that its user lets in. */
    async admit({ stores }: Party, from: 'keys' | 'asking'): Promise<void> {
      const record = await stores[from].load();
      const { enc, sig } = await publicKeysOf((record ?? fail('no keys')).keys);
      admitted.add(`${enc} ${sig}`);
    },

    /** Walks to the newest ring, and notes which list of guests the device has got. */
    async known(by: Party): Promise<Keyring | null> {
      const keyring = await currentOf(by);
      if (keyring !== null) lists.note(by, keyring);
      by.keyring = keyring;
      return keyring;
    },
  };
}

export type Run = Awaited<ReturnType<typeof makeRun>>;
