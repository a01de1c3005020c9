import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import type { Route } from '../../../../shared/contract/route.ts';
import type { Operation } from '../../operation.ts';
import { randomId } from '../../random-id.ts';

const KEY = new RegExp(`^[A-Za-z0-9._:-]{1,${LIMITS.idempotencyKeyChars}}$`);

/** The `Idempotency-Key`, null when none was sent. */
function keyOf(req: IncomingMessage): string | null {
  const sent = req.headersDistinct['idempotency-key'];
  if (sent === undefined) return null;
  const key = sent.length === 1 ? sent[0] : undefined;
  if (key !== undefined && KEY.test(key)) return key;
  const message = `must occur once, with 1 to ${LIMITS.idempotencyKeyChars} characters of A-Z a-z 0-9 . _ : -`;
  throw new BatonError('invalid_request', `Idempotency-Key ${message}`, {
    errors: [{ path: '/header/Idempotency-Key', message }],
  });
}

/** @throws invalid_request for a malformed or repeated `Idempotency-Key`, on routes that honour it. */
export function operationOf(req: IncomingMessage, route: Route, fingerprint: string): Operation {
  const key = route.idempotent ? keyOf(req) : null;
  return { id: key ?? randomId(16), keyed: key !== null, fingerprint };
}
