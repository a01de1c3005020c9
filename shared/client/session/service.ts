import { BatonClientError } from '../errors/baton-client-error.ts';
import type { Session } from './session.ts';

/*
 * The addresses to which a session may be sent. It belongs to the service that made it: to the origin where it was made,
 * and to the origins that this service calls its own.
 */

/** Names and addresses of this machine. Requests to them cross no network. */
const LOOPBACK = /^(?:(?:[a-z0-9_-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Returns scheme, host and port. Null for a page's own origin, which has no address. Throws for any other text. */
export function originOf(base: string): string | null {
  if (base === '') return null;
  const url = URL.canParse(base) ? new URL(base) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.origin;
  throw new BatonClientError('invalid_request', `${base} is no address of a service`);
}

const isLoopback = (origin: string): boolean => LOOPBACK.test(new URL(origin).hostname);

const isOpen = (origin: string): boolean => origin.startsWith('http:') && !isLoopback(origin);

/** Writes loopback addresses as `localhost`, which leads to either of them. */
const asLocalhost = (origin: string): string =>
  origin.replace(/^http:\/\/(?:127\.0\.0\.1|\[::1\])(?=:|$)/, 'http://localhost');

/** Tells whether `origin` is among these. */
export const isAmong = (origin: string, origins: readonly string[]): boolean =>
  origins.includes(origin) || origins.includes(asLocalhost(origin));

/** Throws if a secret would cross a network unencrypted, unless the user allows that. */
export function checkPlainHttp(origin: string | null, isWanted: boolean): void {
  if (origin === null || isWanted || !isOpen(origin)) return;
  const says = 'is not encrypted, and others on the way could take the session';
  throw new BatonClientError('plain_http', `${origin} ${says}: use https`);
}

/** Throws before a session is sent where it does not belong. */
export function checkService({ origins, plain_http: isPlain = false }: Session, base: string): void {
  const origin = originOf(base);
  if (origin === null) return;
  if (origins !== undefined && !isAmong(origin, origins)) {
    const own = origins.join(', ');
    throw new BatonClientError('other_service', `This session is of ${own}, not of ${origin}`);
  }
  checkPlainHttp(origin, isPlain);
}

/**
 * Returns the origins of a session: where it was made, and those that the service calls its own, except unencrypted ones.
 */
export function originsOf(madeAt: string | null, told: readonly string[] = [], isPlain = false): string[] {
  const wellFormed = told.filter((origin) => URL.canParse(origin) && new URL(origin).origin === origin);
  const safe = wellFormed.filter((origin) => isPlain || !isOpen(origin));
  return [...new Set([...(madeAt === null ? [] : [madeAt]), ...safe])];
}

/** Makes the link that an asking device shows, of its own address and checked parts. Throws when it leads elsewhere. */
export function ownLink(payload: string, requestId: string, base: string): string {
  const own = originOf(base) ?? location.origin;
  const url = URL.canParse(payload) ? new URL(payload) : null;
  const code = url?.searchParams.get('c') ?? '';
  const isLink = url?.pathname === '/link' && url.searchParams.get('r') === requestId && /^[\w-]{22}$/.test(code);
  const isSame = url !== null && isAmong(own, [url.origin]);
  // A service on this machine may know itself by another name or port than the one in the request.
  const isOwn = isSame || (url !== null && isLoopback(own) && isLoopback(url.origin));
  if (!isLink || !isOwn) {
    const message = `${own} shows a foreign link. If it has another address, sign in there`;
    throw new BatonClientError('unexpected_answer', message);
  }
  return `${isSame ? url.origin : own}/link?r=${requestId}&c=${code}`;
}

/**
 * Makes the link of an invite for a new device, from checked parts. `origins`: those of the service, the called one first; a
 * page of the service has none. An origin that is not among these is replaced by the called one.
 */
export function ownInvite(payload: string, inviteId: string, [own, ...others]: readonly string[]): string {
  const url = URL.canParse(payload) ? new URL(payload) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || !/^[\w-]{22}$/.test(inviteId)) {
    throw new BatonClientError('unexpected_answer', 'The service shows no invite');
  }
  const origin = own === undefined || isAmong(url.origin, [own, ...others]) ? url.origin : own;
  return `${origin}/join?i=${inviteId}`;
}
