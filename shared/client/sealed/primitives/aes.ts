import type { Bytes } from './bytes.ts';

const AES = 'AES-GCM';
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

export const aesKey = (secret: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', secret, AES, false, ['encrypt', 'decrypt']);

/** Returns the ciphertext followed by the tag. */
export async function aesSeal(key: CryptoKey, nonce: Bytes, aad: Bytes, plain: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.encrypt({ name: AES, iv: nonce, additionalData: aad }, key, plain));
}

/** Returns the plaintext; null if it was not sealed with this key, nonce and AAD. */
export async function aesOpen(key: CryptoKey, nonce: Bytes, aad: Bytes, sealed: Bytes): Promise<Bytes | null> {
  try {
    return new Uint8Array(await crypto.subtle.decrypt({ name: AES, iv: nonce, additionalData: aad }, key, sealed));
  } catch {
    return null;
  }
}
