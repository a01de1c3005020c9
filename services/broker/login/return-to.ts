import { BatonError } from '../../../shared/contract/errors.ts';

interface ReturnToParts {
  /** The public URL, without a slash at its end. Its origin is allowed. */
  publicUrl: string;
  returnOrigins: readonly string[];
}

const MOST_CHARS = 2_048;

/** Characters that browsers change before they parse an address: tabs and line ends vanish, a backslash becomes a slash. */
const AMBIGUOUS = /[\p{Cc}\\]|^\s|\s$/u;

const LOCAL = /^\/(?!\/)/;

const refuse = (message: string): never => {
  const errors = [{ path: '/query/return_to', message }];
  throw new BatonError('invalid_request', `return_to ${message}`, { errors });
};

/**
 * Returns a function that checks where a login returns to: a local path, or a page of an allowed origin. It returns the
 * absolute address that a browser would make of that text; without a text, the first allowed origin, else our own.
 * @throws invalid_request
 */
export function makeReturnTo({ publicUrl, returnOrigins }: ReturnToParts) {
  const own = new URL(publicUrl).origin;
  const allowed = new Set([own, ...returnOrigins]);
  return (text: string | null): string => {
    if (text === null || text === '') return `${returnOrigins[0] ?? own}/`;
    if (text.length > MOST_CHARS) return refuse(`is longer than ${MOST_CHARS} characters`);
    if (AMBIGUOUS.test(text)) return refuse('holds characters that no address has');
    if (!LOCAL.test(text) && !/^https?:\/\//i.test(text)) return refuse('must be a local path or an http(s) address');
    const url = URL.canParse(text, own) ? new URL(text, own) : null;
    if (url === null || url.username !== '' || url.password !== '' || !allowed.has(url.origin)) {
      return refuse('does not lead to an allowed origin');
    }
    return url.href;
  };
}
