import type { Bytes } from './bytes.ts';
import { type Part, parts } from './parts.ts';
import { ECDSA, webTextCrypto } from './text-crypto.ts';

export const SIGNATURE_BYTES = 64;

/** Imports a raw public key for verification. Throws if it is not a point of the curve. */
export const readSig = (raw: Bytes): Promise<CryptoKey> => crypto.subtle.importKey('raw', raw, ECDSA, true, ['verify']);

/** Signs the list of parts; returns 64 bytes, r and s. */
export const sign = async (key: CryptoKey, list: readonly Part[], by = webTextCrypto): Promise<Bytes> =>
  by.sign(key, parts(list));

/** Tells whether the holder of this key signed this list. A key that is not a point of the curve signed nothing. */
export async function hasSigned(
  key: Bytes | Promise<CryptoKey>,
  signature: Bytes,
  list: readonly Part[],
  by = webTextCrypto,
): Promise<boolean> {
  try {
    const read = await (key instanceof Uint8Array ? readSig(key) : key);
    return await by.hasSigned(read, signature, parts(list));
  } catch {
    return false;
  }
}
