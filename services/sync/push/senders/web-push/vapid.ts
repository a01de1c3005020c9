import { createECDH } from 'node:crypto';

/** A VAPID key (RFC 8292), both halves as base64url: the uncompressed point of 65 bytes, the scalar of 32. */
export interface VapidKey {
  readonly id: string;
  readonly publicKey: string;
  readonly privateKey: string;
  /** True for the key of new subscriptions. Older keys go on signing for theirs. */
  readonly current: boolean;
}

export interface VapidOptions {
  readonly keys: readonly VapidKey[];
  /** A contact for push services: `mailto:` or `https:`. */
  readonly subject: string;
}

const padded = (bytes: Buffer): Buffer => Buffer.concat([Buffer.alloc(32 - bytes.length), bytes]);

/** Makes a new pair, for development and for an operator to keep. */
export function makeVapidKeys(): { publicKey: string; privateKey: string } {
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys();
  return {
    publicKey: publicKey.toString('base64url'),
    // Node leaves out leading zeros.
    privateKey: padded(pair.getPrivateKey()).toString('base64url'),
  };
}

/** Returns whether both halves are well-formed and belong together. */
export function checkVapidKey({ publicKey, privateKey }: { publicKey: string; privateKey: string }): boolean {
  if (!/^[\w-]{87}$/.test(publicKey) || !/^[\w-]{43}$/.test(privateKey)) return false;
  const pair = createECDH('prime256v1');
  try {
    pair.setPrivateKey(Buffer.from(privateKey, 'base64url'));
    return pair.getPublicKey().equals(Buffer.from(publicKey, 'base64url'));
  } catch {
    return false;
  }
}

const HOST = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/;
/** Names that have no mail and no pages (RFC 2606, RFC 6761, RFC 6762). */
const NOT_REAL = /(^|\.)(localhost|localdomain|local|internal|invalid|test|example|example\.(com|net|org))$/;

function hostOfSubject(subject: string): string | null {
  const mail = /^mailto:[^\s@<>,?]+@([^\s@<>,?]+)$/i.exec(subject)?.[1];
  if (mail !== undefined) return mail.toLowerCase();
  if (!/^https:\/\//i.test(subject) || !URL.canParse(subject)) return null;
  return new URL(subject).hostname;
}

/**
 * Returns what is wrong with the contact for push services, as the end of the sentence "<KEY> ...", or null. Apple answers
 * 403 `BadJwtToken` to every push with an invalid contact, so the contact is checked at start.
 */
export function checkSubject(subject: string): string | null {
  const host = hostOfSubject(subject);
  if (host === null) return 'must be a mailto: address or an https: page';
  return HOST.test(host) ? null : 'must name a host of the internet';
}

/** Returns whether a well-formed contact cannot exist. Apple refuses pushes with such names. */
export const isUnreal = (subject: string): boolean => NOT_REAL.test(hostOfSubject(subject) ?? '');
