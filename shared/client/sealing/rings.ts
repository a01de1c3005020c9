import { failureOf } from '../errors/failure.ts';
import {
  adoptFirstRing,
  adoptRing,
  checkAgreement,
  disagreeing,
  type Keyring,
  loadKeyring,
  noteRemoved,
  takeAnswer,
  type Taken,
} from '../sealed/keyring.ts';
import { keepDeviceKeys, type KeyRecord } from '../sealed/keys/key-store.ts';
import { publicKeysOf } from '../sealed/keys/device-keys.ts';
import { openGrant } from '../sealed/link/grant.ts';
import { fromBase64url } from '../sealed/primitives/bytes.ts';
import type { KeysAnswer } from '../sealed/ring/chain.ts';
import { makeFirstRing, makeNextRing, type RingChange } from '../sealed/ring/change.ts';
import { isGone, memberOf, readRing } from '../sealed/ring/ring.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import type { Session } from '../session/session.ts';
import type { ConfirmGrant, Linked, Rings, SealingStores } from './api.ts';
import type { Deletions } from './deletion.ts';
import type { Device } from '../wire.ts';
import { noteListed } from './gone.ts';
import { type GuestList, makeGuestList } from './guest-list.ts';
import { isNamed } from './named.ts';
import { sealingError } from './problem.ts';
import { isCode, makeRingCalls } from './ring-calls.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** How often a change of the ring is made if another device is faster each time. */
const MOST_RACES = 8;
/** The earliest end that is noted of a removed guest, from now. If a ring names too many, the earliest end makes room. */
const UNLISTED_MS = 1;
/** The most pages of eight rings that are read. */
const MOST_PAGES = 200;

/** The rings of the account, as this device knows and changes them. */
export function makeRings(
  calls: SealingCalls,
  { keys: store, asking, grant: grants }: SealingStores,
  confirmKept?: ConfirmGrant,
): Rings & { guests: GuestList } & Pick<Deletions, 'announced'> {
  const { serverNow, trustedNow } = calls;
  const guestList = makeGuestList(calls, { current, known, take });
  const { fetchKeys, fetchNewest, put, accountOf, announced } = makeRingCalls(calls);

  async function take(answer: KeysAnswer): Promise<Keyring> {
    return (await takeAnswer(store, answer, serverNow())).keyring;
  }

  async function putBack(texts: readonly string[], first: number): Promise<void> {
    for (const [at, text] of texts.entries()) {
      await put(text, first + at).catch((error: unknown) => {
        // They do not follow what the service has: there is another chain.
        if (isCode(error, 'invalid_request')) throw sealedError('devices_disagree', error);
        // Another device put them back at the same time.
        if (!isCode(error, 'keys_conflict')) throw error;
      });
    }
  }

  /** Throws `devices_disagree` if the newest ring of the store is not the one that this device has of that number. */
  async function checkHead(n: number): Promise<void> {
    const answer = await fetchKeys(Math.max(0, n - 1));
    if (answer !== null) await takeAnswer(store, answer, serverNow());
  }

  /** Walks to the newest ring as the service shows it now. */
  async function walkOnce(pinned: number): Promise<Taken> {
    // The pinned ring is compared too: a store that failed over may have another ring of that number.
    let after = Math.max(0, pinned - 1);
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const answer = await fetchKeys(after);
      if (answer === null) throw sealingError('keys_gone');
      const taken = await takeAnswer(store, answer, serverNow());
      const { keyring, putBack: lost, hasMore } = taken;
      const { n } = keyring.ring.body;
      if (lost.length > 0) {
        await checkHead(answer.n);
        await putBack(lost, n - lost.length + 1);
      }
      if (!hasMore) return taken;
      if (n === after) throw sealedError('devices_disagree');
      after = n;
    }
    throw sealedError('link_again');
  }

  /**
   * Walks to the newest ring. A device that cannot do so seals nothing.
   *
   * It looks again if the service shows a list of guests that is not taken. A response may have come late, and a store may
   * have lost the newest list, which a member puts back. Throws the reason while such a list is shown.
   */
  async function walk(pinned: number): Promise<Keyring> {
    const first = await walkOnce(pinned);
    if (first.listProblem === null) return first.keyring;
    const again = await walkOnce(first.keyring.ring.body.n);
    const { keyring, listProblem: problem } = again;
    if (problem === null) return keyring;
    if (memberOf(keyring.ring, keyring.device_id) === null) throw sealedError(problem);
    await guestList.putBack(keyring);
    const last = await walkOnce(keyring.ring.body.n);
    if (last.listProblem !== null) throw sealedError(last.listProblem);
    return last.keyring;
  }

  const isOf = ({ account }: KeyRecord, { device, user }: Session): boolean =>
    account !== null && account.user_id === user.user_id && account.device_id === device?.device_id;

  const pinOf = async ({ account, rings }: KeyRecord): Promise<number> => {
    const last = rings.at(-1);
    return account === null || last === undefined ? 0 : (await readRing(last, account)).body.n;
  };

  /** Adopts the first ring of the account if this device made it and then died. */
  async function adoptOwn(record: KeyRecord, session: Session): Promise<Keyring | null> {
    const answer = await fetchKeys(0);
    const [first] = answer?.rings ?? [];
    if (first === undefined) return null;
    const account = await accountOf(session);
    const ring = await readRing(first, account);
    const { sig } = await publicKeysOf(record.keys);
    if (memberOf(ring, account.device_id)?.sig !== sig || ring.body.n !== 1) return null;
    await adoptFirstRing(store, account, first, serverNow());
    return walk(1);
  }

  /** Pins the ring that a kept grant names; null without a grant. */
  async function pinGranted(confirm: ConfirmGrant | undefined): Promise<Omit<Linked, 'keyring'> | null> {
    const [kept, session] = [await grants.load(), await calls.session()];
    const record = kept === null ? null : await asking.load();
    if (kept === null || record === null || session === null) return null;
    const account = await accountOf(session);
    const { request_id, sealed } = kept;
    const secret = fromBase64url(kept.secret) ?? new Uint8Array();
    const { n, hash, approver, checkCode } = await openGrant(record.keys, { sealed, request_id, account, secret });
    const answer = await fetchKeys(n - 1);
    if (answer === null) throw sealingError('keys_gone');
    await confirm?.({ checkCode, approver });
    await adoptRing(asking, { account, n, hash }, answer.rings, serverNow());
    const pinned = await asking.load();
    if (pinned === null) throw sealedError('keys_lost');
    await store.save(pinned);
    await forgetAsking();
    return { checkCode, approver };
  }

  /** Does so in the lock of the keys. A bad grant is dropped, because it would be refused again. */
  async function pinKept(confirm: ConfirmGrant | undefined): Promise<Omit<Linked, 'keyring'> | null> {
    if ((await grants.load()) === null) return null;
    try {
      return await store.lock(() => pinGranted(confirm));
    } catch (error) {
      if (isCode(error, 'bad_grant')) await forgetAsking();
      throw error;
    }
  }

  async function takeGrant(confirm?: ConfirmGrant): Promise<Linked | null> {
    const linked = await pinKept(confirm);
    const record = linked === null ? null : await store.load();
    if (linked === null || record === null) return null;
    const keyring = await walk(await pinOf(record)).catch((error: unknown) => {
      // The grant is gone by now, and its digits are nowhere else. `current` walks again before anything is sealed.
      if (failureOf(error).action === 'retry') return loadKeyring(store, serverNow());
      throw error;
    });
    return { ...linked, keyring };
  }

  async function forgetAsking(): Promise<void> {
    await grants.clear();
    await asking.clear();
  }

  async function current(): Promise<Keyring | null> {
    const keyring = await known();
    if (keyring !== null) checkAgreement(keyring);
    return keyring;
  }

  async function known(): Promise<Keyring | null> {
    const session = await calls.session();
    if (session === null) return null;
    await pinKept(confirmKept).catch((error: unknown) => {
      if (!isCode(error, 'bad_grant')) throw error;
    });
    const record = await store.load();
    if (record === null) return null;
    if (record.account === null) return adoptOwn(record, session);
    return isOf(record, session) ? walk(await pinOf(record)) : null;
  }

  /** Returns the members and guests that leave with a change. */
  function leaving(
    { ring, guests }: Keyring,
    { remove = [] }: RingChange,
  ): Required<Pick<RingChange, 'remove' | 'removeGuests' | 'rotate'>> {
    const now = trustedNow();
    const others = remove.filter((id) => memberOf(ring, id) === null && !isGone(ring, id));
    const ends = new Map(guests.map(({ device_id, until }) => [device_id, until]));
    // A device that is on no list, or whose time is over, is noted too: the service may show another list later.
    const endOf = (id: string): number => Math.max(ends.get(id) ?? 0, now + UNLISTED_MS);
    return {
      remove: remove.filter((id) => memberOf(ring, id) !== null),
      removeGuests: others.map((id) => ({ device_id: id, until: endOf(id) })),
      // A device that is on no list may be a member of a ring that the service holds back.
      rotate: others.some((id) => !ends.has(id)),
    };
  }

  /** Returns the members whose keys leave with a change, including those that come back with other keys. */
  const keysLeaving = ({ ring }: Keyring, { add = [] }: RingChange, remove: readonly string[]): string[] => [
    ...remove,
    ...add.flatMap(({ device_id: id, sig }) => ((memberOf(ring, id)?.sig ?? sig) === sig ? [] : [id])),
  ];

  /**
   * Tells whether a change takes out the keys of a member that names other rings. Only its user knows which device is right:
   * without such a change one stolen device could stop all others for ever.
   */
  const mends = (keyring: Keyring, { add = [], remove = [] }: RingChange): boolean =>
    disagreeing(keyring).some(
      ({ device_id: id, sig }) => remove.includes(id) || add.some((each) => each.device_id === id && each.sig !== sig),
    );

  /** Signs the next ring and puts it, and retries if another device was faster. */
  async function change(wanted: RingChange, check?: (keyring: Keyring) => void): Promise<Keyring> {
    for (let races = 0; races < MOST_RACES; races += 1) {
      const keyring = await known();
      if (keyring === null) throw sealedError('unkeyed');
      if (!mends(keyring, wanted)) checkAgreement(keyring);
      check?.(keyring);
      const { remove, removeGuests, rotate } = leaving(keyring, wanted);
      const changes = remove.length + removeGuests.length + (wanted.add ?? []).length;
      if (changes === 0 && wanted.words === undefined) return keyring;
      const without = keysLeaving(keyring, wanted, remove);
      if (without.length > 0) await guestList.keepWithout(keyring, without);
      const next = await makeNextRing(keyring.ring, keyring, { ...wanted, remove, removeGuests, rotate }, serverNow());
      const { n } = next.body;
      try {
        await put(next.text, n);
      } catch (error) {
        if (isCode(error, 'keys_conflict')) continue;
        throw error;
      }
      const taken = await take({ rings: [next.text], n, guests: keyring.guestPin?.text ?? null });
      return { ...taken, guests: keyring.guests };
    }
    throw sealedError('ring_moved');
  }

  return {
    takeGrant,
    current,
    known,
    change,
    announced,
    guests: guestList,

    isEncrypted: async (): Promise<boolean> => (await fetchKeys(0)) !== null,

    async namesThisDevice(): Promise<boolean> {
      const [session, newest] = [await calls.session(), await fetchNewest()];
      if (session === null || session.device === null || newest === null) return false;
      return isNamed(newest, await accountOf(session), serverNow());
    },

    async noteRemoved(deviceId: string): Promise<void> {
      await noteRemoved(store, await loadKeyring(store, serverNow()), deviceId);
    },

    noteListed: (keyring: Keyring, devices: readonly Pick<Device, 'device_id'>[]): Promise<string[]> =>
      noteListed(store, keyring, devices, [serverNow(), Date.now()]),

    async create({ kind, anew = false }: { kind: string; anew?: boolean }): Promise<Keyring> {
      const session = await calls.session();
      if (session === null || session.scope !== 'full' || session.persist !== 'persist') {
        throw sealingError('not_lasting');
      }
      const account = await accountOf(session);
      const found = await store.load();
      const isOld = found !== null && found.account !== null && !isOf(found, session);
      if (isOld || (anew && (await fetchKeys(0)) === null)) await store.lock(() => store.clear());
      const before = await current();
      if (before !== null) return before;
      if ((await fetchKeys(0)) !== null) throw sealingError('keys_exist');
      const { keys } = await keepDeviceKeys(store);
      const ring = await makeFirstRing(account, { device_id: account.device_id, keys, kind });
      try {
        await put(ring.text, 1);
      } catch (error) {
        if (!isCode(error, 'keys_conflict')) throw error;
        // Another program of this device, or another device, was faster.
        const made = await current();
        if (made === null) throw sealingError('keys_exist');
        return made;
      }
      return adoptFirstRing(store, account, ring.text, serverNow());
    },
  };
}
