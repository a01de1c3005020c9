import type { SignInLink } from '../wire.ts';

/** An id or a code; how long it is is the service's business. */
const PART = /^[\w-]{1,128}$/;

/** What a QR code says; null when it is none of Baton's. */
export function readSignInLink(text: string): Exclude<SignInLink, string> | null {
  const query = /\/link\?([^#\s]+)/.exec(text)?.[1];
  const parts = new URLSearchParams(query ?? '');
  const [request_id, approval_code] = [parts.get('r') ?? '', parts.get('c') ?? ''];
  return PART.test(request_id) && PART.test(approval_code) ? { request_id, approval_code } : null;
}
