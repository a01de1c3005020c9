import type { Bytes } from './bytes.ts';
import { keyObjectOf, nodeCrypto } from './node-crypto.ts';
import { type Part, parts } from './parts.ts';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
export const SIGNATURE_BYTES = 64;
/** Node's name for a signature of r and s. */
const R_AND_S = { dsaEncoding: 'ieee-p1363' } as const;

/** Imports a raw public key for verification. Throws where it is not a point of the curve. */
export const readSig = (raw: Bytes): Promise<CryptoKey> => crypto.subtle.importKey('raw', raw, ECDSA, true, ['verify']);

/** Signs the list of parts; returns 64 bytes, r and s. */
export async function sign(key: CryptoKey, list: readonly Part[]): Promise<Bytes> {
  const bytes = parts(list);
  if (nodeCrypto === null) return new Uint8Array(await crypto.subtle.sign(ECDSA, key, bytes));
  return new Uint8Array(nodeCrypto.sign('sha256', bytes, { key: keyObjectOf(nodeCrypto, key), ...R_AND_S }));
}

/** Tells whether the holder of this key signed this list. A key that is not a point of the curve signed nothing. */
export async function hasSigned(
  key: Bytes | Promise<CryptoKey>,
  signature: Bytes,
  list: readonly Part[],
): Promise<boolean> {
  try {
    const read = await (key instanceof Uint8Array ? readSig(key) : key);
    if (nodeCrypto === null) return await crypto.subtle.verify(ECDSA, read, signature, parts(list));
    return nodeCrypto.verify('sha256', parts(list), { key: keyObjectOf(nodeCrypto, read), ...R_AND_S }, signature);
  } catch {
    return false;
  }
}
