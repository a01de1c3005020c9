import { createHash } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';

/** Secrets have 128 and 256 random bits, so a slow hash would gain nothing. Only digests are compared. */
export const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

const REQUEST_ID = /^[\w-]{22}$/;

/** Throws `not_found` for what cannot be the id of a request, as for an unknown one. */
export function known(requestId: string): string {
  if (REQUEST_ID.test(requestId)) return requestId;
  throw new BatonError('not_found');
}
