import type { Bytes } from './bytes.ts';
import { type Part, parts } from './parts.ts';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
export const SIGNATURE_BYTES = 64;

/** Imports a raw public key for verification. Throws where it is not a point of the curve. */
export const readSig = (raw: Bytes): Promise<CryptoKey> => crypto.subtle.importKey('raw', raw, ECDSA, true, ['verify']);

/** Signs the list of parts; returns 64 bytes, r and s. */
export const sign = async (key: CryptoKey, list: readonly Part[]): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.sign(ECDSA, key, parts(list)));

/** Tells whether the holder of this key signed this list. A key that is not a point of the curve signed nothing. */
export async function hasSigned(
  key: Bytes | Promise<CryptoKey>,
  signature: Bytes,
  list: readonly Part[],
): Promise<boolean> {
  try {
    const read = await (key instanceof Uint8Array ? readSig(key) : key);
    return await crypto.subtle.verify(ECDSA, read, signature, parts(list));
  } catch {
    return false;
  }
}
