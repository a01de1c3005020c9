import type { Route } from '../../../../../shared/contract/vocabulary/route.ts';
import type { Json } from './schemas.ts';

/** One scheme for each way to identify the caller. `APP_IDENTITY` decides which of them an installation accepts. */
export const SECURITY_SCHEMES = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The `access_token` of a session, for native clients. With `APP_IDENTITY=edge` the edge checks it and hands the identity on, with `broker` the replica does.',
  },
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-baton',
    description:
      'The cookie of a session, for browsers; `baton` over http on localhost. Checked as the access token is.',
  },
  devUser: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Dev-User',
    description:
      'With `APP_IDENTITY=dev` alone: whoever this says, without a device. `X-Dev-Scope` is `full` or `guest`.',
  },
  devDevice: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Dev-Device',
    description:
      'With `APP_IDENTITY=dev` alone, beside `X-Dev-User`: the id of its device, 8 to 64 of `A-Z a-z 0-9 _ -`. `X-Dev-Name` and `X-Dev-Type` say what it is called and what it is.',
  },
} as const;

type Scheme = keyof typeof SECURITY_SCHEMES;

const all = (...schemes: Scheme[]): Json => Object.fromEntries(schemes.map((scheme) => [scheme, []]));

/** Returns the security of an operation. One entry of the list is enough; an empty entry means no identity. */
export function securityOf(name: string, { identity, device }: Route): Json[] {
  // The only public route that takes the cookie, from a client that does not send the credential in the body.
  if (name === 'refreshSession') return [all('sessionCookie'), all()];
  if (identity === 'public') return [];
  const dev = all('devUser', 'devDevice');
  return [all('accessToken'), all('sessionCookie'), ...(device === 'required' ? [dev] : [all('devUser'), dev])];
}
