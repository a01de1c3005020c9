import { BatonError } from '../../../shared/contract/errors.ts';

/**
 * Returns the path to return to after the login. Only a path of this service is allowed. It refuses everything that some
 * browser reads as another site's address (`//host`, a backslash, a control character that is skipped).
 * @throws invalid_request
 */
export function localPath(text: string, origin: string): string {
  const isPlain = /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(text);
  const url = isPlain && URL.canParse(text, origin) ? new URL(text, origin) : null;
  if (url?.origin === origin) return url.pathname + url.search + url.hash;
  const message = 'must be a path of this service';
  throw new BatonError('invalid_request', `return_to ${message}`, { errors: [{ path: '/query/return_to', message }] });
}
