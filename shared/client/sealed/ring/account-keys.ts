import { aesKey, aesOpen, aesSeal, NONCE_BYTES } from '../primitives/aes.ts';
import {
  type Bytes,
  concat,
  fromBase64url,
  isSame,
  randomBytes,
  readU64,
  toBase64url,
  u32,
  u64,
  utf8,
  viewOf,
} from '../primitives/bytes.ts';
import { hkdf, sha256 } from '../primitives/hkdf.ts';
import { hpkeOpen, hpkeSeal, readEnc } from '../primitives/hpke.ts';
import { parts } from '../primitives/parts.ts';
import { sealedError } from '../sealed-error.ts';
import { type Account, memberOf, type Member, type Ring, type Signer } from './ring.ts';

/** A key of the account, and until when it opens content; null for the key in force. */
export interface AccountKey {
  readonly epoch: number;
  readonly key: Bytes;
  readonly until: number | null;
}

/** How long a replaced key still opens content that was under way. */
export const OLDER_MS = 8 * 86_400_000;
const OLDER_BYTES = 4 + 8 + 32;
/** The most replaced keys in a ring, so that frequent rotations within 8 days do not make it grow. */
const MOST_OLDER = 64;

export const keyIdOf = async (key: Bytes): Promise<string> => toBase64url(await sha256(concat(utf8('id'), key)));

const wrapInfo = ({ service, user_id }: Account, deviceId: string, epoch: number): Bytes =>
  parts(['baton/1 wrap', service, user_id, deviceId, u32(epoch)]);

/** Wraps the account key for one member. */
export async function wrapFor(account: Account, { epoch, key }: AccountKey, member: Pick<Member, 'device_id' | 'enc'>) {
  const to = await readEnc(fromBase64url(member.enc) ?? new Uint8Array());
  return toBase64url(await hpkeSeal(to, wrapInfo(account, member.device_id, epoch), key));
}

const olderAad = ({ service, user_id }: Account, epoch: number): Bytes =>
  parts(['baton/1 older', service, user_id, u32(epoch)]);

/** Seals the replaced keys under the key in force; `''` for none. */
export async function sealOlder(account: Account, newest: AccountKey, older: readonly AccountKey[]): Promise<string> {
  const kept = older.slice(-MOST_OLDER);
  if (kept.length === 0) return '';
  const plain = concat(...kept.flatMap(({ epoch, until, key }) => [u32(epoch), u64(until ?? 0), key]));
  const nonce = randomBytes(NONCE_BYTES);
  const key = await aesKey(await hkdf(newest.key, 'baton/1 older'));
  return toBase64url(concat(nonce, await aesSeal(key, nonce, olderAad(account, newest.epoch), plain)));
}

async function openOlder({ body }: Ring, newest: Bytes): Promise<AccountKey[] | null> {
  if (body.older === '') return [];
  const sealed = fromBase64url(body.older) ?? new Uint8Array();
  const key = await aesKey(await hkdf(newest, 'baton/1 older'));
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const plain = await aesOpen(key, nonce, olderAad(body, body.epoch), sealed.subarray(NONCE_BYTES));
  if (plain === null || plain.length % OLDER_BYTES !== 0) return null;
  return Array.from({ length: plain.length / OLDER_BYTES }, (_, i) => {
    const at = i * OLDER_BYTES;
    const [epoch, until] = [viewOf(plain).getUint32(at), readU64(plain, at + 4) ?? 0];
    return { epoch, until, key: plain.slice(at + 12, at + OLDER_BYTES) };
  });
}

/**
 * Opens the keys that this ring gives the member: the key in force first, then the replaced ones that still open content.
 * Throws `not_a_member`, or `bad_ring` if the wrapped key is not the one that the ring names.
 */
export async function openAccountKeys(ring: Ring, { device_id, keys }: Signer, now: number): Promise<AccountKey[]> {
  const { body } = ring;
  const wrap = memberOf(ring, device_id) === null ? undefined : body.wraps[device_id];
  if (wrap === undefined) throw sealedError('not_a_member');
  const sealed = fromBase64url(wrap) ?? new Uint8Array();
  const key = await hpkeOpen(keys.enc, wrapInfo(body, device_id, body.epoch), sealed);
  if (key === null || key.length !== 32) throw sealedError('bad_ring');
  if (!isSame(utf8(await keyIdOf(key)), utf8(body.key_id))) throw sealedError('bad_ring');
  const older = await openOlder(ring, key);
  if (older === null) throw sealedError('bad_ring');
  const living = older.filter(({ until, epoch }) => until !== null && until > now && epoch < body.epoch);
  return [{ epoch: body.epoch, key, until: null }, ...living];
}
