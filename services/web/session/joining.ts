import { scriptSha256 } from '../../../shared/client/files/sha256.ts';
import { tabWords } from '../kept-words.ts';

/*
 * A new device that scanned the invite of one that is signed in. The code's fragment, which no server sees, carries a secret.
 * Both screens make the same six digits of it and of the request, and the person types them from the new one into the other:
 * whoever photographed the code and asked first has a request with other digits than the screen in front of that person.
 */
export interface Joining {
  readonly invite: string;
  readonly secret: string;
}

const JOINING = 'baton-join';
const SECRETS = 'baton-invites';
/** As the service takes an invite, and as `newSecret` makes a secret. */
const PART = /^[\w-]{22}$/;

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** 128 random bits. */
export const newSecret = (): string => base64url(crypto.getRandomValues(new Uint8Array(16)));

/** Where a camera leads, with the secret in the fragment. */
export const inviteLink = (link: string, secret: string): string => `${link}#s=${secret}`;

/** Takes the invite out of the address of this page, which is the app's from then on. */
export function takeJoining(): void {
  const { pathname, search, hash } = location;
  if (pathname !== '/join') return;
  const invite = new URLSearchParams(search).get('i') ?? '';
  const secret = /^#s=(.*)$/.exec(hash)?.[1] ?? '';
  if (PART.test(invite) && PART.test(secret)) tabWords.set(JOINING, `${invite} ${secret}`);
  history.replaceState(null, '', '/');
  // The fragment was no place in the app.
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Kept over a reload of this tab; null when there is none. */
export function joining(): Joining | null {
  const [invite = '', secret = ''] = (tabWords.get(JOINING) ?? '').split(' ');
  return PART.test(invite) && PART.test(secret) ? { invite, secret } : null;
}

export const endJoining = (): void => tabWords.set(JOINING, null);

interface KeptSecret {
  secret: string;
  /** By the service's clock. */
  until: number;
}

function keptSecrets(now: number): KeptSecret[] {
  try {
    const kept = JSON.parse(tabWords.get(SECRETS) ?? '[]') as KeptSecret[];
    return kept.filter(({ until }) => until > now);
  } catch {
    return [];
  }
}

/** A request may be made at the last moment, and then lives as long as the invite did. */
const REQUEST_MS = 120_000;

/** Keeps the secret of an invite that this tab shows. */
export function keepSecret(secret: string, expiresAt: number, now: number): void {
  tabWords.set(SECRETS, JSON.stringify([...keptSecrets(now), { secret, until: expiresAt + REQUEST_MS }]));
}

/** Those of the invites that this tab has shown, of which one may be that of a request. */
export const secretsOf = (now: number): string[] => keptSecrets(now).map(({ secret }) => secret);

const BLOCK_BYTES = 64;

function hashed(...parts: Uint8Array[]): Uint8Array {
  const hash = scriptSha256();
  for (const part of parts) hash.update(part);
  return Uint8Array.from(hash.hex().match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Six digits of HMAC-SHA-256 (RFC 2104), in JavaScript: without TLS a page has no other. */
export function digitsOf(secret: string, requestId: string): string {
  const bytes = new TextEncoder().encode(secret);
  const pad = (by: number) => Uint8Array.from({ length: BLOCK_BYTES }, (_, at) => (bytes[at] ?? 0) ^ by);
  const mac = hashed(pad(0x5c), hashed(pad(0x36), new TextEncoder().encode(requestId)));
  return String(new DataView(mac.buffer).getUint32(0) % 1_000_000).padStart(6, '0');
}
