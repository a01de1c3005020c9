import { BatonError, type ErrorCode } from '../contract/errors.ts';
import { bytesOfBase64url } from './base64url.ts';

interface SealedRules {
  /** Where it stands in the body. */
  field: string;
  /** Bytes that it may have once it is decoded. */
  most: number;
  /** The code for more, and what it says beside the number. */
  tooLong: { code: ErrorCode; advice?: string };
}

/**
 * Checks what only devices can open: that it is base64url, and not too long. Throws `invalid_request`, and the code for a text
 * that is too long.
 */
export function checkSealed(sealed: string, { field, most, tooLong: { code, advice = '' } }: SealedRules): void {
  // Before anything is decoded.
  if (Math.floor((sealed.length * 3) / 4) > most) {
    throw new BatonError(code, `/body/${field} is at most ${most} bytes once it is decoded${advice}`);
  }
  if (sealed !== '' && bytesOfBase64url(sealed) !== null) return;
  const message = 'must be base64url without padding, and not empty';
  throw new BatonError('invalid_request', `/body/${field} ${message}`, {
    errors: [{ path: `/body/${field}`, message }],
  });
}
