import type { ServerResponse } from 'node:http';
import type { IssuedSession } from '../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { cutText, type DeviceRef } from '../../../shared/contract/vocabulary/fields.ts';
import type { SessionAnswer } from '../../../shared/contract/modules/sessions.ts';

/** The characters of a cookie's name and value (RFC 6265, section 4.1.1): none that ends a header or an attribute. */
const NAME = /^[\w!#$%&'*+.^`|~-]{1,64}$/;
const VALUE = /^[\w!#$%&'()*+./:<=>?@[\]^`{|}~-]{1,4096}$/;

/**
 * Returns the attributes. A cookie that was set over https is sent only over https (CONTRACT.md, "The auth broker"). With
 * `SameSite=Lax` a user who follows a link from elsewhere is signed in.
 */
const attributesOf = (isSecure: boolean): string => `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

interface SessionCookieParts {
  /** Whether browsers reach the service over https. */
  isSecure: boolean;
}

/** Makes the functions that set and clear the session cookie. The broker chooses its name. */
export function makeSessionCookie({ isSecure }: SessionCookieParts) {
  const set = (res: ServerResponse, name: string, value: string, lifetime: string): void => {
    res.appendHeader('Set-Cookie', `${name}=${value}; ${attributesOf(isSecure)}${lifetime}`);
  };
  return {
    /** Sets the cookie; null sets nothing. Throws `broker_contract` for an invalid cookie. */
    give(res: ServerResponse, cookie: IssuedSession['cookie'] | null): void {
      if (cookie === null) return;
      const { name, value, max_age_seconds: maxAge } = cookie;
      if (!NAME.test(name) || !VALUE.test(value)) {
        throw new BatonError('broker_contract', 'The auth broker gave a cookie that is none');
      }
      set(res, name, value, maxAge === null ? '' : `; Max-Age=${maxAge}`);
    },

    clear(res: ServerResponse): void {
      set(res, isSecure ? '__Host-baton' : 'baton', '', '; Max-Age=0');
    },
  };
}

export type SessionCookie = ReturnType<typeof makeSessionCookie>;

/** Returns the response for a minted or renewed session. `device` is null for a session without a device. */
export const sessionAnswer = (issued: Omit<IssuedSession, 'cookie'>, device: DeviceRef | null): SessionAnswer => ({
  access_token: issued.access_token,
  token_type: 'Bearer',
  expires_in: issued.expires_in,
  scope: issued.scope,
  persist: issued.persist,
  session_expires_at: issued.expires_at,
  device,
  user: { ...issued.user, name: cutText(issued.user.name) },
});
