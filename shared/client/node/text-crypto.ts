import { createCipheriv, createDecipheriv, KeyObject, sign, verify } from 'node:crypto';
import { concat } from '../sealed/primitives/bytes.ts';
import type { TextCrypto } from '../sealed/primitives/text-crypto.ts';

const AES = 'aes-256-gcm';
const TAG_BYTES = 16;
const OF_TAG = { authTagLength: TAG_BYTES };
/** Node's name for a signature of r and s. */
const R_AND_S = { dsaEncoding: 'ieee-p1363' } as const;

const objects = new WeakMap<CryptoKey, KeyObject>();

function objectOf(key: CryptoKey): KeyObject {
  const known = objects.get(key);
  if (known !== undefined) return known;
  const made = KeyObject.from(key);
  objects.set(key, made);
  return made;
}

/**
 * Signs and encrypts texts with Node's own cryptography. WebCrypto hands each operation to another thread, which takes longer
 * than the operation: measured for a text of 300 bytes, 118 us of processor time to seal and 190 to open here, and 187 and 297
 * there.
 */
export const nodeTextCrypto: TextCrypto = {
  sign: (key, bytes) => new Uint8Array(sign('sha256', bytes, { key: objectOf(key), ...R_AND_S })),
  hasSigned: (key, signature, bytes) => verify('sha256', bytes, { key: objectOf(key), ...R_AND_S }, signature),
  seal(key, nonce, aad, plain) {
    const cipher = createCipheriv(AES, objectOf(key), nonce, OF_TAG).setAAD(aad);
    return concat(cipher.update(plain), cipher.final(), cipher.getAuthTag());
  },
  open(key, nonce, aad, sealed) {
    if (sealed.length < TAG_BYTES) return null;
    const end = sealed.length - TAG_BYTES;
    const cipher = createDecipheriv(AES, objectOf(key), nonce, OF_TAG).setAAD(aad);
    cipher.setAuthTag(sealed.subarray(end));
    const plain = cipher.update(sealed.subarray(0, end));
    try {
      return concat(plain, cipher.final());
    } catch {
      return null;
    }
  },
};
