import { contentKey, type Keyring, keysOf } from '../keyring.ts';
import { pointIn } from '../keys/device-keys.ts';
import { NONCE_BYTES, TAG_BYTES } from '../primitives/aes.ts';
import { type Bytes, concat, fromBase64url, randomBytes, u32, viewOf } from '../primitives/bytes.ts';
import { HPKE_FIRST, hpkeOpen, hpkeSeal, readEnc } from '../primitives/hpke.ts';
import { parts } from '../primitives/parts.ts';
import { webTextCrypto } from '../primitives/text-crypto.ts';
import { sealedError } from '../sealed-error.ts';
import { type Letter, letterParts } from './body.ts';

/** The first byte of an envelope under the account key. */
const ACCOUNT_FIRST = 0x01;
const HEAD_BYTES = 1 + 4 + NONCE_BYTES;

/** Decodes an envelope. Its first byte says how it is sealed. */
export function envelopeIn(sealed: string): Bytes {
  const bytes = fromBase64url(sealed);
  if (bytes === null || bytes.length === 0) throw sealedError('not_sealed');
  if (bytes[0] !== ACCOUNT_FIRST && bytes[0] !== HPKE_FIRST) throw sealedError('newer_version');
  return bytes;
}

/** Seals as `01 || epoch u32 || nonce 12 || ciphertext`, under a key of the account. */
export async function sealUnder(
  key: CryptoKey,
  epoch: number,
  aad: Bytes,
  body: Bytes,
  by = webTextCrypto,
): Promise<Bytes> {
  const nonce = randomBytes(NONCE_BYTES);
  return concat(Uint8Array.of(ACCOUNT_FIRST), u32(epoch), nonce, await by.seal(key, nonce, aad, body));
}

/** Reads the epoch of an envelope under a key of the account. */
export function epochIn(envelope: Bytes): number {
  if (envelope[0] !== ACCOUNT_FIRST || envelope.length < HEAD_BYTES + TAG_BYTES) throw sealedError('cannot_open');
  return viewOf(envelope).getUint32(1);
}

/** Opens the result of {@link sealUnder}. */
export async function openUnder(key: CryptoKey, aad: Bytes, envelope: Bytes, by = webTextCrypto): Promise<Bytes> {
  const body = await by.open(key, envelope.subarray(5, HEAD_BYTES), aad, envelope.subarray(HEAD_BYTES));
  if (body === null) throw sealedError('cannot_open');
  return body;
}

const aadOf = (keyring: Keyring, letter: Letter, epoch: number): Bytes =>
  parts([...letterParts(keyring, letter), u32(epoch)]);

/** Seals for every full member, under the key in force. */
export async function sealForAccount(keyring: Keyring, letter: Letter, kind: 'msg', body: Bytes): Promise<Bytes> {
  const { epoch } = keyring.ring.body;
  const key = await contentKey(keyring, epoch, kind);
  return sealUnder(key, epoch, aadOf(keyring, letter, epoch), body, keyring.textCrypto);
}

/** Returns the public key of a device of the account: a member, or a guest. Throws `not_a_member`. */
function encOf(keyring: Keyring, deviceId: string, now: number): Bytes {
  const point = pointIn(keysOf(keyring, deviceId, now)?.enc);
  if (point === null) throw sealedError('not_a_member');
  return point;
}

/** Seals for only one device. `t`: the time at which a guest must be let in. */
export async function sealForDevice(keyring: Keyring, letter: Letter, body: Bytes, t: number): Promise<Bytes> {
  const to = await readEnc(encOf(keyring, letter.target, t));
  return hpkeSeal(to, parts(letterParts(keyring, letter)), body);
}

/** Opens either kind of envelope, and returns its epoch; null for HPKE. */
export async function openEnvelope(
  keyring: Keyring,
  letter: Letter,
  kind: 'msg',
  envelope: Bytes,
): Promise<{ body: Bytes; epoch: number | null }> {
  if (envelope[0] === HPKE_FIRST) {
    const body = await hpkeOpen(keyring.keys.enc, parts(letterParts(keyring, letter)), envelope);
    if (body === null) throw sealedError('cannot_open');
    return { body, epoch: null };
  }
  const epoch = epochIn(envelope);
  const key = await contentKey(keyring, epoch, kind);
  const body = await openUnder(key, aadOf(keyring, letter, epoch), envelope, keyring.textCrypto);
  return { body, epoch };
}
