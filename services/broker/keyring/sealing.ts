import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/*
 * Private keys in the store are sealed with a secret that is not in the store (AES-256-GCM, RFC 5116; the key by HKDF,
 * RFC 5869). Without a secret they are stored unsealed, and sealed once there is one.
 */

const SEALED = 'a256gcm:';
const PLAIN = 'plain:';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const keyOf = (secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'broker keyring', 32));

/** Seals a text. `name` is bound to it: a text that was sealed under one name does not open under another. */
export function seal(text: string, name: string, secrets: readonly string[]): string {
  const [secret] = secrets;
  if (secret === undefined) return PLAIN + text;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), nonce).setAAD(Buffer.from(name));
  const bytes = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return SEALED + Buffer.concat(bytes).toString('base64url');
}

function openWith(secret: string, bytes: Buffer, name: string): string | null {
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secret), bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    // Null tells the caller that the text was sealed with another secret, or not by us.
    return null;
  }
}

/** Returns whether the text is stored unsealed. */
export const isPlain = (sealed: string): boolean => sealed.startsWith(PLAIN);

/** Returns the text; null if none of the secrets opens it. */
export function unseal(sealed: string, name: string, secrets: readonly string[]): string | null {
  if (isPlain(sealed)) return sealed.slice(PLAIN.length);
  const bytes = Buffer.from(sealed.slice(SEALED.length), 'base64url');
  if (!sealed.startsWith(SEALED) || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  for (const secret of secrets) {
    const text = openWith(secret, bytes, name);
    if (text !== null) return text;
  }
  return null;
}
