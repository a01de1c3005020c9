import { randomBytes } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { DerivationKey } from '../sessions/credentials/credential.ts';
import { isPlain, seal, unseal } from './sealing.ts';

/** The algorithm of all tokens that the broker signs. */
export const ALGORITHM = 'ES256';

/** One generation of keys: the signing key, and the key from which secrets are derived. */
export interface SigningKey {
  readonly id: string;
  /** When the key begins to sign, in ms of the store's clock. */
  readonly fromMs: number;
  /** The published form. */
  readonly publicJwk: JWK;
  readonly verifyWith: CryptoKey;
  /** Null if it is sealed with a secret that this process lacks. The key can then verify, but not sign. */
  readonly own: { readonly signWith: CryptoKey; readonly derivation: DerivationKey } | null;
}

interface Stored {
  from: number;
  public: JWK;
  sealed: string;
}

interface SealedPart {
  private: JWK;
  derivation: string;
}

/** Makes a new generation, in its stored form. */
export async function makeStoredKey(fromMs: number, secrets: readonly string[]): Promise<{ id: string; text: string }> {
  const id = randomBytes(9).toString('base64url');
  const pair = await generateKeyPair(ALGORITHM, { extractable: true });
  const secret: SealedPart = {
    private: await exportJWK(pair.privateKey),
    derivation: randomBytes(32).toString('base64url'),
  };
  const publicJwk = { ...(await exportJWK(pair.publicKey)), kid: id, alg: ALGORITHM, use: 'sig' };
  const stored: Stored = { from: fromMs, public: publicJwk, sealed: seal(JSON.stringify(secret), id, secrets) };
  return { id, text: JSON.stringify(stored) };
}

/**
 * Returns the sealed form of a key that is stored unsealed; null if it is sealed already, or there is no secret. It stays
 * the same key, so what it signed and what was derived from it stays valid.
 */
export function sealedAnew(id: string, text: string, secrets: readonly string[]): string | null {
  const stored = JSON.parse(text) as Stored;
  if (secrets.length === 0 || !isPlain(stored.sealed)) return null;
  const plain = unseal(stored.sealed, id, secrets) ?? '';
  return JSON.stringify({ ...stored, sealed: seal(plain, id, secrets) } satisfies Stored);
}

export async function readStoredKey(id: string, text: string, secrets: readonly string[]): Promise<SigningKey> {
  const stored = JSON.parse(text) as Stored;
  const opened = unseal(stored.sealed, id, secrets);
  const secret = opened === null ? null : (JSON.parse(opened) as SealedPart);
  return {
    id,
    fromMs: stored.from,
    publicJwk: stored.public,
    verifyWith: (await importJWK(stored.public, ALGORITHM)) as CryptoKey,
    own: secret && {
      signWith: (await importJWK(secret.private, ALGORITHM)) as CryptoKey,
      derivation: { id, bytes: Buffer.from(secret.derivation, 'base64url') },
    },
  };
}
