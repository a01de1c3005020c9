import type { SignInLink } from '../wire.ts';

/** An id or a code. The service decides its length. */
const PART = /^[\w-]{1,128}$/;

/** Reads the text of a QR code; null when it is not a code of Baton. */
export function readSignInLink(text: string): Exclude<SignInLink, string> | null {
  const query = /\/link\?([^#\s]+)/.exec(text)?.[1];
  const parts = new URLSearchParams(query ?? '');
  const [request_id, approval_code] = [parts.get('r') ?? '', parts.get('c') ?? ''];
  return PART.test(request_id) && PART.test(approval_code) ? { request_id, approval_code } : null;
}
