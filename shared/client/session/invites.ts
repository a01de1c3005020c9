import { scriptSha256 } from '../files/sha256.ts';

/*
 * The secret of an invite. It is in the fragment of the invite's link, which no server sees. Both devices make the same six
 * digits from the secret and the request, and the user types them from the new device into the other. Somebody who
 * photographed the code and asked first has a request with other digits than the user's new device.
 */

/** The form of the service's invites and of the secrets of `newSecret`. */
const PART = /^[\w-]{22}$/;

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Makes a secret of 128 random bits. */
export const newSecret = (): string => base64url(crypto.getRandomValues(new Uint8Array(16)));

/** Returns the text of an invite's code. */
export const inviteLink = (link: string, secret: string): string => `${link}#s=${secret}`;

/** Returns the text of an invite's code of a device that has keys, and gives them to the new device. */
export const keyedInviteLink = (link: string, secret: string): string => `${link}#k=1.${secret}`;

/** An invite that was read. */
export interface InviteLink {
  baseUrl: string;
  invite: string;
  secret: string;
  /** True: the inviting device has keys, and the digits also name those of the new device, if it sends some. */
  isKeyed: boolean;
}

/** Reads such a code. Null when it is not a code of Baton. */
export function readInviteLink(text: string): InviteLink | null {
  if (!URL.canParse(text)) return null;
  const { origin, pathname, searchParams, hash } = new URL(text);
  const invite = searchParams.get('i') ?? '';
  const [, kind, secret = ''] = /^#(s=|k=1\.)(.*)$/.exec(hash) ?? [];
  if (!pathname.endsWith('/join') || !PART.test(invite) || !PART.test(secret)) return null;
  return { baseUrl: origin + pathname.slice(0, -'/join'.length), invite, secret, isKeyed: kind !== 's=' };
}

/** The request of a device that asks with an invite, as the event `signin:requested` has it. */
export interface InvitedRequest {
  request_id: string;
  approval_code: string;
}

/** Reads the data of an event; null when it is no such request. */
export function invitedRequest(data: unknown): InvitedRequest | null {
  const { request_id, approval_code } = (data ?? {}) as Partial<InvitedRequest>;
  return typeof request_id === 'string' && typeof approval_code === 'string' ? { request_id, approval_code } : null;
}

const BLOCK_BYTES = 64;

function hashed(...parts: Uint8Array[]): Uint8Array {
  const hash = scriptSha256();
  for (const part of parts) hash.update(part);
  return Uint8Array.from(hash.hex().match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Makes six digits of HMAC-SHA-256 (RFC 2104), in JavaScript, because a page without TLS has no WebCrypto. */
export function inviteDigits(secret: string, requestId: string): string {
  const bytes = new TextEncoder().encode(secret);
  const pad = (by: number) => Uint8Array.from({ length: BLOCK_BYTES }, (_, at) => (bytes[at] ?? 0) ^ by);
  const mac = hashed(pad(0x5c), hashed(pad(0x36), new TextEncoder().encode(requestId)));
  return String(new DataView(mac.buffer).getUint32(0) % 1_000_000).padStart(6, '0');
}
