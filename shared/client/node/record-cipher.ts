import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { MakeRecordCipher } from '../sealed/content/records.ts';

const AES = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns a plain view, because `slice` of a `Buffer` copies nothing. */
const plainView = ({ buffer, byteOffset, length }: Buffer): Uint8Array<ArrayBuffer> =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, length);

/**
 * Seals and opens records with Node's own cryptography. WebCrypto copies each record several times: measured on two cores,
 * 1.5 ms of processor time for a MiB here, and 4 ms there.
 */
export const nodeRecordCipher: MakeRecordCipher = (keys) => {
  const nonceOf = (aad: Uint8Array, plain: Uint8Array): Buffer =>
    createHmac('sha256', keys.nonce).update(aad).update(plain).digest().subarray(0, NONCE_BYTES);
  return {
    seal(aad, plain) {
      const nonce = nonceOf(aad, plain);
      const cipher = createCipheriv(AES, keys.enc, nonce).setAAD(aad);
      const sealed = cipher.update(plain);
      cipher.final();
      return [nonce, sealed, cipher.getAuthTag()].map(plainView);
    },
    open(aad, nonce, sealed) {
      const end = sealed.length - TAG_BYTES;
      const cipher = createDecipheriv(AES, keys.enc, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
      cipher.setAuthTag(sealed.subarray(end));
      const plain = cipher.update(sealed.subarray(0, end));
      try {
        cipher.final();
      } catch {
        return null;
      }
      return timingSafeEqual(nonceOf(aad, plain), nonce) ? plainView(plain) : null;
    },
  };
};
