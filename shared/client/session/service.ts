import { BatonClientError } from '../errors/baton-client-error.ts';
import type { Session } from './session.ts';

/*
 * Which addresses a session may be sent to. It belongs to the service that made it: to the origin where it was made, and to
 * those that this service calls its own.
 */

/** Names and addresses of this very machine: what goes there crosses no network. */
const LOOPBACK = /^(?:localhost|(?:[a-z0-9_-]+\.)+localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Scheme, host and port. Null for a page's own origin, which no address names. Throws for what is no address. */
export function originOf(base: string): string | null {
  if (base === '') return null;
  const url = URL.canParse(base) ? new URL(base) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.origin;
  throw new BatonClientError('invalid_request', `${base} is no address of a service`);
}

const isLoopback = (origin: string): boolean => LOOPBACK.test(new URL(origin).hostname);

const isOpen = (origin: string): boolean => origin.startsWith('http:') && !isLoopback(origin);

/** `localhost` leads to either of these, whatever it is called. */
const asLocalhost = (origin: string): string =>
  origin.replace(/^http:\/\/(?:127\.0\.0\.1|\[::1\])(?=:|$)/, 'http://localhost');

/** Whether `origin` is among these. */
export const isAmong = (origin: string, origins: readonly string[]): boolean =>
  origins.includes(origin) || origins.includes(asLocalhost(origin));

/** Throws where what is secret would cross a network in the clear, unless the user has taken that upon himself. */
export function checkPlainHttp(origin: string | null, isWanted: boolean): void {
  if (origin === null || isWanted || !isOpen(origin)) return;
  const says = 'is not encrypted, and whoever is on the way there could take the session';
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

/** The origins of a session: where it was made, and what the service calls its own, but for what is not encrypted. */
export function originsOf(madeAt: string | null, told: readonly string[] = [], isPlain = false): string[] {
  const wellFormed = told.filter((origin) => URL.canParse(origin) && new URL(origin).origin === origin);
  const safe = wellFormed.filter((origin) => isPlain || !isOpen(origin));
  return [...new Set([...(madeAt === null ? [] : [madeAt]), ...safe])];
}

/** What a device that wants in shows: of its own address, made of parts that were looked at. Throws when it leads elsewhere. */
export function ownLink(payload: string, requestId: string, base: string): string {
  const own = originOf(base) ?? location.origin;
  const url = URL.canParse(payload) ? new URL(payload) : null;
  const code = url?.searchParams.get('c') ?? '';
  const isLink = url?.pathname === '/link' && url.searchParams.get('r') === requestId && /^[\w-]{22}$/.test(code);
  // A service on this machine may know itself by another name or port than the one it was asked by.
  const isOwn = url !== null && (isAmong(own, [url.origin]) || (isLoopback(own) && isLoopback(url.origin)));
  if (url === null || !isLink || !isOwn) {
    const message = `${own} shows a foreign link. If it has another address, sign in there`;
    throw new BatonClientError('unexpected_answer', message);
  }
  return `${isAmong(own, [url.origin]) ? url.origin : own}/link?r=${requestId}&c=${code}`;
}

/**
 * What a new device is shown, made of parts that were looked at. `origins`: those of the service, the one that is asked first; a
 * page, which the service has made, has none. Another origin than these is not shown: the one that is asked is, in its place.
 */
export function ownInvite(payload: string, inviteId: string, [own, ...others]: readonly string[]): string {
  const url = URL.canParse(payload) ? new URL(payload) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || !/^[\w-]{22}$/.test(inviteId)) {
    throw new BatonClientError('unexpected_answer', 'The service shows no invite');
  }
  const origin = own === undefined || isAmong(url.origin, [own, ...others]) ? url.origin : own;
  return `${origin}/join?i=${inviteId}`;
}
