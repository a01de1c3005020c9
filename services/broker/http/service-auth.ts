import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const only = (values: readonly string[] | undefined): string | null =>
  values?.length === 1 ? (values[0] ?? null) : null;

/** Returns the token of `Authorization: Bearer` (RFC 6750, section 2.1); null without one, or if the header is repeated. */
export function bearerOf({ headersDistinct }: IncomingMessage): string | null {
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(only(headersDistinct['authorization']) ?? '') ?? [];
  return token ?? null;
}

/**
 * Returns a function that identifies the calling app: `X-Broker-App` names it, and its token proves it. Digests of all
 * tokens are compared in constant time, so that the time reveals neither the app nor how much of a token is right.
 * @throws unauthenticated
 */
export function makeServiceAuth({ tokens }: { tokens: readonly { app: string; token: string }[] }) {
  const known = tokens.map(({ app, token }) => ({ app, digest: sha256(token) }));
  return (req: IncomingMessage): string => {
    const named = only(req.headersDistinct['x-broker-app']);
    const digest = sha256(bearerOf(req) ?? '');
    let caller: string | null = null;
    for (const { app, digest: right } of known) {
      if (timingSafeEqual(digest, right) && app === named) caller = app;
    }
    if (caller !== null) return caller;
    throw new BatonError('unauthenticated', 'The calling service is not known', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  };
}
