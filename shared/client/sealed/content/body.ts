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
  viewOf,
} from '../primitives/bytes.ts';
import { padmeLength } from '../primitives/padme.ts';
import type { Part } from '../primitives/parts.ts';
import { hasSigned, readSig, sign, SIGNATURE_BYTES } from '../primitives/signature.ts';
import { pointIn } from '../keys/device-keys.ts';
import { isOver, type Keyring } from '../keyring.ts';
import { NAMED_HASH_BYTES as HASH_BYTES, OtherRing } from '../ring/named-rings.ts';
import { memberOf, type Ring } from '../ring/ring.ts';
import { sealedError } from '../sealed-error.ts';

/** The device that a signature proves, by the ring that the body names. */
export interface Sender {
  readonly device_id: string;
  /** The {@link Member.kind}, or `guest`. */
  readonly kind: string;
  /** True: the device no longer belongs to the account, or did not at the time at which the sender says that it wrote. */
  readonly isRemoved: boolean;
}

/** The fields of everything that was sealed, besides its content. */
export interface Opened {
  /** Take each id once: remember it as long as the key that opens it, in the transaction that shows the content. */
  readonly id: string;
  /** The sender's time in Unix milliseconds. */
  readonly t: number;
  /** The number of the ring by which it was sealed. */
  readonly n: number;
  readonly epoch: number;
  readonly sender: Sender;
}

/** The kind of the content, its sender and its receiver. All of it is signed, and none of it is sent. */
export interface Letter {
  readonly label: string;
  readonly from: string;
  readonly target: string;
}

const ID_BYTES = 16;
const HEAD_BYTES = ID_BYTES + 8 + 8 + HASH_BYTES + 4;

const signedParts = ({ account }: Keyring, { label, from, target }: Letter, body: Bytes): Part[] => [
  ...[label, account.service, account.user_id, from, target],
  body,
];

/** Returns the parts that authenticate an envelope, without its body. */
export const letterParts = ({ account }: Keyring, { label, from, target }: Letter): Part[] => [
  ...[label, account.service, account.user_id, from, target],
];

/**
 * Makes `id 16 || t u64 || n u64 || ring hash 16 || length u32 || content || signature 64`, zeros up to the Padmé length.
 */
export async function makeBody(
  keyring: Keyring,
  letter: Letter,
  { content, t, id }: { content: Bytes; t: number; id?: string | undefined },
): Promise<Bytes> {
  const { ring, keys } = keyring;
  const idBytes = id === undefined ? randomBytes(ID_BYTES) : fromBase64url(id);
  if (idBytes?.length !== ID_BYTES) throw new TypeError('an id has 16 bytes');
  const head = [idBytes, u64(t), u64(ring.body.n), ring.hash.subarray(0, HASH_BYTES), u32(content.length)];
  const body = concat(...head, content);
  const signature = await sign(keys.sig.privateKey, signedParts(keyring, letter, body), keyring.textCrypto);
  const length = body.length + SIGNATURE_BYTES;
  return concat(body, signature, new Uint8Array(padmeLength(length) - length));
}

/**
 * Returns the known ring that a body names. Throws `unknown_key` for a newer one, and `devices_disagree` if the known ring
 * of that number has another hash. The cause is {@link OtherRing} if `isSignedBy` says that a member of the ring in force
 * has signed it.
 */
async function ringNamed(
  { rings, ring }: Keyring,
  { n, hash, from }: { n: number; hash: Bytes; from: string },
  isSignedBy: (owner: Signing) => Promise<boolean>,
): Promise<Ring> {
  const found = rings.find(({ body }) => body.n === n);
  if (found !== undefined && isSame(found.hash.subarray(0, HASH_BYTES), hash)) return found;
  if (found === undefined && n <= ring.body.n) throw sealedError('key_retired');
  const member = memberOf(ring, from);
  const isGenuine = member !== null && (await isSignedBy(member));
  const cause = isGenuine ? new OtherRing(member.sig, { n, hash: toBase64url(hash) }) : undefined;
  throw sealedError(found === undefined ? 'unknown_key' : 'devices_disagree', cause);
}

/** The keys of members and guests that were read. Each is read once, because that takes as long as a verification. */
const keysRead = new WeakMap<Signing, Promise<CryptoKey>>();

/** A member or a guest. */
interface Signing {
  readonly sig: string;
}

function keyOf(owner: Signing): Promise<CryptoKey> {
  const known = keysRead.get(owner);
  if (known !== undefined) return known;
  const key = readSig(pointIn(owner.sig) ?? new Uint8Array());
  keysRead.set(owner, key);
  return key;
}

/** Returns the claimed sender with its key, as that ring has it. */
function signerIn(
  keyring: Keyring,
  named: Ring,
  { from, t }: { from: string; t: number },
): { owner: Signing; sender: Sender } {
  const member = memberOf(named, from);
  if (member !== null) {
    const isRemoved = memberOf(keyring.ring, from)?.sig !== member.sig;
    return { owner: member, sender: { device_id: from, kind: member.kind, isRemoved } };
  }
  const guest = keyring.guests.find(({ device_id }) => device_id === from);
  if (guest === undefined) throw sealedError('not_a_member');
  return { owner: guest, sender: { device_id: from, kind: 'guest', isRemoved: isOver(keyring, guest, t) } };
}

/** Reads a body, and proves who sent it. */
export async function readBody(keyring: Keyring, letter: Letter, padded: Bytes): Promise<Opened & { content: Bytes }> {
  if (padded.length < HEAD_BYTES + SIGNATURE_BYTES) throw sealedError('cannot_open');
  const length = viewOf(padded).getUint32(HEAD_BYTES - 4);
  const end = HEAD_BYTES + length;
  const whole = end + SIGNATURE_BYTES;
  if (padmeLength(whole) !== padded.length || padded.subarray(whole).some((byte) => byte !== 0)) {
    throw sealedError('cannot_open');
  }
  const [t, n] = [readU64(padded, ID_BYTES), readU64(padded, ID_BYTES + 8)];
  if (t === null || n === null) throw sealedError('cannot_open');
  const isSignedBy = (owner: Signing): Promise<boolean> =>
    hasSigned(
      keyOf(owner),
      padded.subarray(end, whole),
      signedParts(keyring, letter, padded.subarray(0, end)),
      keyring.textCrypto,
    );
  const hash = padded.slice(ID_BYTES + 16, ID_BYTES + 16 + HASH_BYTES);
  const named = await ringNamed(keyring, { n, hash, from: letter.from }, isSignedBy);
  // Content for one device opens without a key of the account. It still ends with that key. A guest has no such key.
  const { accountKeys } = keyring;
  if (accountKeys.length > 0 && !accountKeys.some(({ epoch }) => epoch === named.body.epoch)) {
    throw sealedError('key_retired');
  }
  const { owner, sender } = signerIn(keyring, named, { from: letter.from, t });
  if (!(await isSignedBy(owner))) throw sealedError('wrong_signer');
  const id = toBase64url(padded.subarray(0, ID_BYTES));
  return { id, t, n, epoch: named.body.epoch, sender, content: padded.slice(HEAD_BYTES, end) };
}
