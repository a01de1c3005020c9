import { BatonError } from '../../../shared/contract/errors.ts';
import type { LoggedIn } from '../sessions/sessions.ts';
import type { Claims } from './provider.ts';

/** What a header can carry, and the contract calls a subject. */
const SUBJECT = /^[\x21-\x7e]{1,255}$/;
/** Roles travel as one comma-separated header. */
const ROLE = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;
const MOST_ROLES = 64;
const MOST_NAME_CHARS = 128;

/** Halves of characters go last: cutting makes new ones, and no header could carry them. */
const cleanName = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')
    .trim()
    .slice(0, MOST_NAME_CHARS)
    .replace(/\p{Cs}/gu, '');

const textOf = (value: unknown): string => (typeof value === 'string' ? cleanName(value) : '');

/**
 * The user as a provider's claims tell it. Roles that no header could carry are left out.
 * @throws account_refused when the user id is not visible ASCII: it would not reach the service unchanged
 */
export function userOf(claims: Claims & { sub: string }, rolesClaim: string): LoggedIn {
  if (!SUBJECT.test(claims.sub))
    throw new BatonError('account_refused', 'The user id of this account is not supported');
  const roles = claims[rolesClaim];
  const name = textOf(claims['name']) || textOf(claims['preferred_username']) || textOf(claims['email']);
  return {
    subject: claims.sub,
    name: name || claims.sub,
    roles: (Array.isArray(roles) ? roles : [])
      .filter((role): role is string => typeof role === 'string' && ROLE.test(role))
      .slice(0, MOST_ROLES),
  };
}

/**
 * The user of a development login: whatever was typed, percent-encoded where a header could not carry it.
 * @throws invalid_request
 */
export function typedUser(text: string): LoggedIn {
  const name = cleanName(text);
  const subject = SUBJECT.test(name) ? name : encodeURIComponent(name);
  if (SUBJECT.test(subject)) return { subject, name, roles: [] };
  const message = name === '' ? 'is required' : 'is too long';
  throw new BatonError('invalid_request', `user ${message}`, { errors: [{ path: '/body/user', message }] });
}
