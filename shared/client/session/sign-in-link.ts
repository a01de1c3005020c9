import type { SignInLink } from '../api.ts';

/** What a QR code says; null when it is none of Baton's. */
export function readSignInLink(text: string): Exclude<SignInLink, string> | null {
  const query = /\/link\?([^#\s]+)/.exec(text)?.[1];
  const parts = new URLSearchParams(query ?? '');
  const [request_id, approval_code] = [parts.get('r'), parts.get('c')];
  return request_id === null || approval_code === null ? null : { request_id, approval_code };
}
