import { aesOpen, aesSeal } from './aes.ts';
import type { Bytes } from './bytes.ts';

/** Signs and encrypts texts. A platform may have a faster way than WebCrypto, with the same results. */
export interface TextCrypto {
  /** Signs by ECDSA with P-256 and SHA-256; returns r and s. */
  sign(key: CryptoKey, bytes: Bytes): Bytes | Promise<Bytes>;
  /** Tells whether the holder of this key made this signature of these bytes. */
  hasSigned(key: CryptoKey, signature: Bytes, bytes: Bytes): boolean | Promise<boolean>;
  /** Encrypts by AES-256-GCM; returns the ciphertext followed by the tag. */
  seal(key: CryptoKey, nonce: Bytes, aad: Bytes, plain: Bytes): Bytes | Promise<Bytes>;
  /** Returns the plaintext; null if it was not sealed with this key, nonce and AAD. */
  open(key: CryptoKey, nonce: Bytes, aad: Bytes, sealed: Bytes): Bytes | null | Promise<Bytes | null>;
}

export const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** The way that every platform has. */
export const webTextCrypto: TextCrypto = {
  sign: async (key, bytes) => new Uint8Array(await crypto.subtle.sign(ECDSA, key, bytes)),
  hasSigned: (key, signature, bytes) => crypto.subtle.verify(ECDSA, key, signature, bytes),
  seal: aesSeal,
  open: aesOpen,
};
