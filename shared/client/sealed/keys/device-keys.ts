import { type Bytes, fromBase64url, isSame, randomBytes, toBase64url, utf8 } from '../primitives/bytes.ts';
import { hpkeOpen, hpkeSeal } from '../primitives/hpke.ts';
import { hasSigned, sign } from '../primitives/signature.ts';
import { sealedError } from '../sealed-error.ts';

/** The two key pairs of a device: others seal to `enc`, and `sig` signs. */
export interface DeviceKeys {
  readonly enc: CryptoKeyPair;
  readonly sig: CryptoKeyPair;
}

/** The public keys as they are sent: raw points of P-256, 65 bytes each, as base64url. */
export interface PublicKeys {
  readonly enc: string;
  readonly sig: string;
}

const POINT_BYTES = 65;

/** Makes the keys of a device. Only a store that writes them to a file needs them `extractable`. */
export async function makeDeviceKeys({ extractable = false }: { extractable?: boolean } = {}): Promise<DeviceKeys> {
  const curve = { namedCurve: 'P-256' };
  const [enc, sig] = await Promise.all([
    crypto.subtle.generateKey({ name: 'ECDH', ...curve }, extractable, ['deriveBits']),
    crypto.subtle.generateKey({ name: 'ECDSA', ...curve }, extractable, ['sign', 'verify']),
  ]);
  return { enc, sig };
}

const rawOf = async (key: CryptoKey): Promise<Bytes> => new Uint8Array(await crypto.subtle.exportKey('raw', key));

/** Returns the public keys of a device, for `keys` of a request to sign in. */
export async function publicKeysOf({ enc, sig }: DeviceKeys): Promise<PublicKeys> {
  return {
    enc: toBase64url(await rawOf(enc.publicKey)),
    sig: toBase64url(await rawOf(sig.publicKey)),
  };
}

/** Decodes a raw public key; null for what cannot be one. The import checks whether the point is on the curve. */
export function pointIn(text: unknown): Bytes | null {
  const bytes = typeof text === 'string' ? fromBase64url(text) : null;
  return bytes !== null && bytes.length === POINT_BYTES && bytes[0] === 4 ? bytes : null;
}

/** Seals and signs once, then opens and verifies the results. Throws `keys_unusable` if these keys cannot. */
export async function tryDeviceKeys({ enc, sig }: DeviceKeys): Promise<void> {
  try {
    const [info, secret] = [utf8('baton/1 trial'), randomBytes(32)];
    const opened = await hpkeOpen(enc, info, await hpkeSeal(enc.publicKey, info, secret));
    const signature = await sign(sig.privateKey, [info, secret]);
    const isGenuine = await hasSigned(await rawOf(sig.publicKey), signature, [info, secret]);
    if (opened !== null && isSame(opened, secret) && isGenuine) return;
  } catch (cause) {
    throw sealedError('keys_unusable', cause);
  }
  throw sealedError('keys_unusable');
}
