import type { RequestHandler } from 'express';
import type { Keyring } from './keyring.ts';

/**
 * Serves the key set (RFC 7517). Its cache time is shorter than the time for which a key is published before it signs.
 */
export const makeKeySetHandler =
  ({ keyring, maxAgeSeconds }: { keyring: Keyring; maxAgeSeconds: number }): RequestHandler =>
  (_req, res) => {
    const body = Buffer.from(JSON.stringify(keyring.jwks));
    res.setHeader('Cache-Control', `public, max-age=${maxAgeSeconds}`);
    res.type('application/jwk-set+json').send(body);
  };
