import { randomBytes } from '../primitives/bytes.ts';
import { publicKeysOf, type PublicKeys } from '../keys/device-keys.ts';
import { sealedError } from '../sealed-error.ts';
import { type AccountKey, keyIdOf, OLDER_MS, openAccountKeys, sealOlder, wrapFor } from './account-keys.ts';
import {
  type Account,
  type GoneGuest,
  hashOf,
  memberOf,
  type Member,
  MOST_GONE,
  type Ring,
  type Signer,
  signRing,
  type WordsSaid,
} from './ring.ts';
import { WORDS_ID } from './words-member.ts';

/** A member to add. It replaces a member with the same id and other keys. */
export interface NewMember extends PublicKeys {
  readonly device_id: string;
  readonly kind: string;
}

/** The changes of the next ring. */
export interface RingChange {
  readonly add?: readonly NewMember[];
  readonly remove?: readonly string[];
  /** Guests to remove before their time is over. They have no account key, so it stays. */
  readonly removeGuests?: readonly GoneGuest[];
  /** Replaces the account key even if no known member leaves, because a removed device may have it. */
  readonly rotate?: boolean;
  /** The statement that new recovery words have signed. */
  readonly words?: WordsSaid;
  /** With `words`: the words that have signed again, by their key. If others are in the ring by now, it stays as it is. */
  readonly renewedBy?: Pick<Member, 'sig'>;
}

async function wrapsFor(
  account: Account,
  key: AccountKey,
  members: readonly Member[],
): Promise<ReadonlyMap<string, string>> {
  const wraps = members.map(async (member) => [member.device_id, await wrapFor(account, key, member)] as const);
  return new Map(await Promise.all(wraps));
}

/** Makes the first ring of an account, with only this device and a new account key. */
export async function makeFirstRing(account: Account, { keys, ...own }: Signer & { kind: string }): Promise<Ring> {
  const { device_id, kind } = own;
  const key: AccountKey = { epoch: 1, key: randomBytes(32), until: null };
  const members = [{ device_id, kind, ...(await publicKeysOf(keys)), since: 1 }];
  const { service, user_id } = account;
  const head = { v: 1, service, user_id, n: 1, prev_hash: '', epoch: 1, key_id: await keyIdOf(key.key) } as const;
  const wraps = Object.fromEntries(await wrapsFor(account, key, members));
  return signRing({ ...head, members, wraps, older: '' }, keys);
}

function membersAfter({ body }: Ring, { add = [], remove = [] }: RingChange): Member[] {
  const coming = new Set(add.map(({ device_id }) => device_id));
  const staying = body.members.filter(({ device_id }) => !remove.includes(device_id) && !coming.has(device_id));
  const added = add.map(({ device_id, kind, enc, sig }) => {
    const old = memberOf({ body }, device_id);
    const isOld = old !== null && old.enc === enc && old.sig === sig;
    return { device_id, kind, enc, sig, since: isOld ? old.since : body.n + 1 };
  });
  return [...staying, ...added];
}

/** Returns the statement of the words of the next ring: that of new words, or the one of words that stay. */
function wordsAfter(
  { body }: Ring,
  members: readonly Member[],
  { words: said, renewedBy }: RingChange,
): { words?: WordsSaid } {
  const words = members.find(({ device_id }) => device_id === WORDS_ID);
  const stays = words !== undefined && words.sig === memberOf({ body }, WORDS_ID)?.sig;
  const isNew = said !== undefined && (renewedBy === undefined || renewedBy.sig === words?.sig);
  const now = isNew ? said : stays ? body.words : undefined;
  return words === undefined || now === undefined ? {} : { words: now };
}

/** Returns the removed guests of the next ring. If there are too many, those whose time ends first are left out. */
function goneAfter({ body }: Ring, { removeGuests = [] }: RingChange): { gone_guests?: GoneGuest[] } {
  const all = [...(body.gone_guests ?? []), ...removeGuests];
  const kept = all.toSorted((one, other) => other.until - one.until).slice(0, MOST_GONE);
  return kept.length === 0 ? {} : { gone_guests: kept.map(({ device_id, until }) => ({ device_id, until })) };
}

const hasLost = ({ body }: Ring, members: readonly Member[]): boolean =>
  body.members.some(({ enc, sig }) => !members.some((member) => member.enc === enc && member.sig === sig));

/**
 * Makes the ring after this one, signed by one of its members. A new account key replaces the old one when a member, or its
 * old keys, leave. A leaving member cannot sign.
 */
export async function makeNextRing(before: Ring, signer: Signer, change: RingChange, now: number): Promise<Ring> {
  const { service, user_id, n, epoch, wraps } = before.body;
  const [inForce, ...older] = await openAccountKeys(before, signer, now);
  if (inForce === undefined || change.remove?.includes(signer.device_id) === true) throw sealedError('not_a_member');
  const members = membersAfter(before, change);
  const rotates = change.rotate === true || hasLost(before, members);
  const key = rotates ? { epoch: epoch + 1, key: randomBytes(32), until: null } : inForce;
  const replaced = rotates ? [...older, { ...inForce, until: now + OLDER_MS }] : older;
  // A member that stays under the same key keeps its wrap.
  const fresh = members.filter(({ since }) => rotates || since > n);
  const made = await wrapsFor(before.body, key, fresh);
  const wrapOf = ({ device_id }: Member) => [device_id, made.get(device_id) ?? wraps[device_id] ?? ''] as const;
  const head = { v: 1, service, user_id, n: n + 1, prev_hash: hashOf(before) } as const;
  const tail = {
    ...{ wraps: Object.fromEntries(members.map(wrapOf)), older: await sealOlder(before.body, key, replaced) },
    ...wordsAfter(before, members, change),
    ...goneAfter(before, change),
  };
  return signRing({ ...head, epoch: key.epoch, key_id: await keyIdOf(key.key), members, ...tail }, signer.keys);
}
