import { type Bytes, utf8 } from './bytes.ts';

const EMPTY = new Uint8Array();

/** Derives 32 bytes by HKDF with SHA-256 and an empty salt. */
export async function hkdf(secret: Bytes, info: string | Bytes): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  const asked = { name: 'HKDF', hash: 'SHA-256', salt: EMPTY, info: typeof info === 'string' ? utf8(info) : info };
  return new Uint8Array(await crypto.subtle.deriveBits(asked, key, 256));
}

export const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/** Imports a key for {@link hmac}. */
export const hmacKey = (secret: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', secret, HMAC, false, ['sign']);

export const hmac = async (key: CryptoKey, bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
