import { createHash } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { bytesOfBase64url } from '../../../shared/service-kit/base64url.ts';
import { parseJson } from '../../../shared/service-kit/http/request/json.ts';

/** A ring or a list of guests, as it is sent: `base64url(bytes).base64url(signature)`. */
export interface SignedText {
  /** The text as it was sent. */
  readonly text: string;
  readonly bytes: Buffer;
  readonly signature: Buffer;
  /** SHA-256 of the bytes, in base64url. */
  readonly hash: string;
}

const SIGNATURE_BYTES = 64;

/** Returns the error for a field of the body that is wrong. */
export const refused = (field: string, message: string): BatonError =>
  new BatonError('invalid_request', `/body/${field} ${message}`, { errors: [{ path: `/body/${field}`, message }] });

/** Parses the text of a request. Throws `body_too_large`, `invalid_request`. */
export function parseSigned(text: string, field: string): SignedText {
  if (text.length > LIMITS.ringBytes) {
    throw new BatonError('body_too_large', `/body/${field} has at most ${LIMITS.ringBytes} characters`);
  }
  const [first = '', second = '', ...others] = text.split('.');
  const [bytes, signature] = [bytesOfBase64url(first), bytesOfBase64url(second)];
  if (others.length > 0 || !bytes?.length || signature === null) {
    throw refused(field, 'must be base64url(bytes).base64url(signature), without padding');
  }
  if (signature.length !== SIGNATURE_BYTES) throw refused(field, `must have a signature of ${SIGNATURE_BYTES} bytes`);
  return { text, bytes, signature, hash: createHash('sha256').update(bytes).digest('base64url') };
}

/** Parses the bytes as JSON. Throws `invalid_request`. */
export function jsonOf({ bytes }: SignedText, field: string): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof BatonError) throw refused(field, 'must hold JSON in UTF-8');
    throw error;
  }
}
