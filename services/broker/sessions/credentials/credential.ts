import { createHash, createHmac, randomBytes } from 'node:crypto';
import { accountTag } from '../../redis/keys.ts';

/*
 * A credential is `v1.<session id>.<secret>`, the value of the session cookie. Secrets are 256 bits, in base64url. The store
 * has only their SHA-256.
 */

export interface Credential {
  readonly sessionId: string;
  readonly secret: string;
}

const FORM = /^v1\.([A-Za-z0-9_-]{44})\.([A-Za-z0-9_-]{43})$/;

/** Returns whether the text has the form of a session id: 128 bits of its account, and 128 random bits. */
export const isSessionId = (text: string): boolean => /^[A-Za-z0-9_-]{44}$/.test(text);

export function parseCredential(text: string): Credential | null {
  const [, sessionId, secret] = FORM.exec(text) ?? [];
  return sessionId === undefined || secret === undefined ? null : { sessionId, secret };
}

export const formatCredential = ({ sessionId, secret }: Credential): string => `v1.${sessionId}.${secret}`;

export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/** Makes a session id. It begins with the tag of the account, so that the store finds the session by only its id. */
export const newSessionId = (subject: string): string => accountTag(subject) + randomBytes(16).toString('base64url');

export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** The key from which secrets are derived. */
export interface DerivationKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** Derives a secret. No part contains a NUL, so two different lists never give the same text. */
const derive = (key: DerivationKey, ...parts: string[]): string =>
  createHmac('sha256', key.bytes)
    .update([key.id, ...parts].join('\0'))
    .digest('base64url');

export interface MintOf {
  app: string;
  subject: string;
  meta: string;
  idempotencyKey: string;
}

/** Returns the secret of a mint. A repeated mint gets the same secret, although it is stored nowhere. */
export const mintedSecret = (key: DerivationKey, { app, subject, meta, idempotencyKey }: MintOf): string =>
  derive(key, 'mint', app, subject, meta, idempotencyKey);

/**
 * Returns the next secrets that rotations give after this one, nearest first. They are the same for all holders of the old
 * secret, so that several tabs, or a repeated request, get the same new secret.
 */
export function nextSecrets(key: DerivationKey, { sessionId, secret }: Credential, count: number): string[] {
  const secrets: string[] = [];
  let last = secret;
  for (let i = 0; i < count; i++) {
    last = derive(key, 'rotate', sessionId, last);
    secrets.push(last);
  }
  return secrets;
}
