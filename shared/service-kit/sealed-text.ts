import { BatonError, type ErrorCode } from '../contract/errors.ts';
import { bytesOfBase64url } from './base64url.ts';

interface SealedRules {
  /** Its field in the body. */
  field: string;
  /** The most bytes that it may have after decoding. */
  most: number;
  /** The error code for a longer text, and the advice after the number. */
  tooLong: { code: ErrorCode; advice?: string };
}

/**
 * Checks a text that only devices can open: it must be base64url, and not too long. Throws `invalid_request`, and `tooLong`
 * for a text that is too long.
 */
export function checkSealed(sealed: string, { field, most, tooLong: { code, advice = '' } }: SealedRules): void {
  // The length is checked before anything is decoded.
  if (Math.floor((sealed.length * 3) / 4) > most) {
    throw new BatonError(code, `/body/${field} is at most ${most} bytes once it is decoded${advice}`);
  }
  if (sealed !== '' && bytesOfBase64url(sealed) !== null) return;
  const message = 'must be base64url without padding, and not empty';
  throw new BatonError('invalid_request', `/body/${field} ${message}`, {
    errors: [{ path: `/body/${field}`, message }],
  });
}
