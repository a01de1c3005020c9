import { BatonError } from '../../../../shared/contract/errors.ts';
import { cutText, type Scope } from '../../../../shared/contract/vocabulary/fields.ts';
import { accountOf, type Caller } from '../caller.ts';
import { isDeviceId } from '../device-id.ts';

/** What an edge or the broker asserts about a caller, before it is checked. An absent value is empty. */
export interface Asserted {
  readonly subject: string;
  readonly scope: string;
  /** The device id; empty for a session without device. */
  readonly meta: string;
  readonly name: string;
  readonly roles: readonly string[];
}

const SUBJECT = /^[\x21-\x7e]{1,255}$/;

const unauthenticated = (detail: string): BatonError => new BatonError('unauthenticated', detail);

function scopeOf(text: string): Scope {
  if (text === 'full' || text === 'guest') return text;
  throw unauthenticated('The identity has no valid scope');
}

function deviceIdOf(meta: string): string | null {
  if (meta === '') return null;
  if (isDeviceId(meta)) return meta;
  throw unauthenticated('The identity has no valid device id');
}

/** Returns the name without control characters, for logs and screens. */
const nameOf = (name: string, userId: string): string => cutText(name.replace(/\p{Cc}/gu, '').trim()) || userId;

/**
 * Returns the caller that a trusted party vouches for (CONTRACT.md, "Identity"). A missing value never gives more rights:
 * without a scope there is no caller.
 * @throws unauthenticated
 */
export function callerOf({ subject, scope, meta, name, roles }: Asserted): Caller {
  if (!SUBJECT.test(subject)) throw unauthenticated('The identity has no valid subject');
  return {
    userId: subject,
    account: accountOf(subject),
    scope: scopeOf(scope),
    name: nameOf(name, subject),
    roles: roles.map((role) => role.trim()).filter((role) => role !== ''),
    deviceId: deviceIdOf(meta),
  };
}
