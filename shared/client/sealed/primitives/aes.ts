import { type Bytes, concat } from './bytes.ts';
import { keyObjectOf, nodeCrypto } from './node-crypto.ts';

const AES = 'AES-GCM';
const NODE_AES = 'aes-256-gcm';
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
const OF_TAG = { authTagLength: TAG_BYTES };

export const aesKey = (secret: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', secret, AES, false, ['encrypt', 'decrypt']);

/** Returns the ciphertext followed by the tag. */
export async function aesSeal(key: CryptoKey, nonce: Bytes, aad: Bytes, plain: Bytes): Promise<Bytes> {
  if (nodeCrypto === null) {
    return new Uint8Array(await crypto.subtle.encrypt({ name: AES, iv: nonce, additionalData: aad }, key, plain));
  }
  const cipher = nodeCrypto.createCipheriv(NODE_AES, keyObjectOf(nodeCrypto, key), nonce, OF_TAG).setAAD(aad);
  return concat(cipher.update(plain), cipher.final(), cipher.getAuthTag());
}

/** Returns the plaintext; null where it was not sealed with this key, nonce and AAD. */
export async function aesOpen(key: CryptoKey, nonce: Bytes, aad: Bytes, sealed: Bytes): Promise<Bytes | null> {
  try {
    if (nodeCrypto === null) {
      return new Uint8Array(await crypto.subtle.decrypt({ name: AES, iv: nonce, additionalData: aad }, key, sealed));
    }
    const end = sealed.length - TAG_BYTES;
    const cipher = nodeCrypto.createDecipheriv(NODE_AES, keyObjectOf(nodeCrypto, key), nonce, OF_TAG).setAAD(aad);
    cipher.setAuthTag(sealed.subarray(end));
    return concat(cipher.update(sealed.subarray(0, end)), cipher.final());
  } catch {
    return null;
  }
}
