import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../contract/errors.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { Route } from '../../../contract/vocabulary/route.ts';
import type { Operation } from '../../operation.ts';
import { randomId } from '../../random-id.ts';

const KEY = new RegExp(`^[A-Za-z0-9._:-]{1,${LIMITS.idempotencyKeyChars}}$`);

/** Returns the `Idempotency-Key`; null if none was sent. */
function keyOf(req: IncomingMessage): string | null {
  if (req.headers['idempotency-key'] === undefined) return null;
  const sent = req.headersDistinct['idempotency-key'] ?? [];
  const key = sent.length === 1 ? sent[0] : undefined;
  if (key !== undefined && KEY.test(key)) return key;
  const message = `must occur once, with 1 to ${LIMITS.idempotencyKeyChars} characters of A-Z a-z 0-9 . _ : -`;
  throw new BatonError('invalid_request', `Idempotency-Key ${message}`, {
    errors: [{ path: '/header/Idempotency-Key', message }],
  });
}

/**
 * Returns the operation of a request. Only a key that the client chose needs a fingerprint, because it may come again with
 * another body.
 * @throws invalid_request for a malformed or repeated `Idempotency-Key`, on routes that honour it
 */
export function operationOf(req: IncomingMessage, route: Route, body: Buffer): Operation {
  const key = route.idempotent ? keyOf(req) : null;
  if (key === null) return { id: randomId(16), keyed: false, fingerprint: '' };
  return { id: key, keyed: true, fingerprint: hash('sha256', body, 'base64url') };
}
