import type { RequestHandler } from 'express';
import type { Keyring } from './keyring.ts';

/** RFC 7517. Nobody keeps it longer than a key is published before it signs: see `BROKER_KEY_OVERLAP_SECONDS`. */
export const makeKeySetHandler =
  ({ keyring, maxAgeSeconds }: { keyring: Keyring; maxAgeSeconds: number }): RequestHandler =>
  (_req, res) => {
    const body = Buffer.from(JSON.stringify(keyring.jwks));
    res.setHeader('Cache-Control', `public, max-age=${maxAgeSeconds}`);
    res.type('application/jwk-set+json').send(body);
  };
