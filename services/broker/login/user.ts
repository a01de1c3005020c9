import { BatonError } from '../../../shared/contract/errors.ts';
import type { LoggedIn } from '../sessions/sessions.ts';
import type { Claims } from './provider.ts';

/** The form of a subject in the contract, which a header can carry. */
const SUBJECT = /^[\x21-\x7e]{1,255}$/;
/** Roles travel as one comma-separated header. */
const ROLE = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;
const MOST_ROLES = 64;
const MOST_NAME_CHARS = 128;

/** Cleans a name. It removes half characters last, because cutting creates new ones and no header can carry them. */
const cleanName = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')
    .trim()
    .slice(0, MOST_NAME_CHARS)
    .replace(/\p{Cs}/gu, '');

const textOf = (value: unknown): string => (typeof value === 'string' ? cleanName(value) : '');

/**
 * Returns the user from a provider's claims. It leaves out roles that no header can carry.
 * @throws account_refused if the user id is not visible ASCII, because it would not reach the service unchanged
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
 * Returns the user of a development login: the typed text, percent-encoded if a header cannot carry it.
 * @throws invalid_request
 */
export function typedUser(text: string): LoggedIn {
  const name = cleanName(text);
  const subject = SUBJECT.test(name) ? name : encodeURIComponent(name);
  if (SUBJECT.test(subject)) return { subject, name, roles: [] };
  const message = name === '' ? 'is required' : 'is too long';
  throw new BatonError('invalid_request', `user ${message}`, { errors: [{ path: '/body/user', message }] });
}
