import { createHash } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';

/** Returns a secret's digest, for comparisons. Secrets have 128 or 256 random bits, so a slow hash would gain nothing. */
export const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

const REQUEST_ID = /^[\w-]{22}$/;

/** Returns the id. Throws `not_found` for a text that cannot be a request's id, as for an unknown id. */
export function known(requestId: string): string {
  if (REQUEST_ID.test(requestId)) return requestId;
  throw new BatonError('not_found');
}
