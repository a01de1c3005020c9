import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';

/** Returns the one value of a header; null if it is absent. Call `refuseAmbiguous` first, or repeated ones are joined. */
export function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

/** Returns a name as CGI and its successors read it, which do not distinguish `_` from `-`. */
const asTwin = (name: string): string => (name.includes('_') ? name.replaceAll('_', '-') : name);

/** Returns whether the header is one of the names, as it is or as an underscore twin. The length rules out most of them. */
function isAmong(raw: string, names: readonly string[]): boolean {
  for (const name of names) {
    if (name.length === raw.length && asTwin(raw.toLowerCase()) === name) return true;
  }
  return false;
}

/** Returns whether the request has any of the (lower-case) headers, as it is or as an underscore twin. */
export const carriesAny = ({ rawHeaders }: IncomingMessage, names: readonly string[]): boolean =>
  rawHeaders.some((raw, i) => i % 2 === 0 && isAmong(raw, names));

/**
 * Refuses an identity header that occurs twice, or as an underscore twin. Somebody added one of them, and it is unknown
 * which one the edge checked.
 * @throws invalid_request that names each such header
 */
export function refuseAmbiguous({ rawHeaders }: IncomingMessage, names: readonly string[]): void {
  const [found, wrong]: [string[], string[]] = [[], []];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i] as string;
    if (!isAmong(raw, names)) continue;
    const name = raw.toLowerCase();
    if (!names.includes(name) || found.includes(name)) wrong.push(name);
    found.push(name);
  }
  if (wrong.length === 0) return;
  const errors = wrong.map((name) => ({ path: `/header/${name}`, message: 'occurs twice or with an underscore' }));
  throw new BatonError('invalid_request', 'An identity header is ambiguous', { errors });
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const ASCII = /^[\x20-\x7e]*$/;

/** Decodes a header as UTF-8 from the Latin-1 text that Node gives; null if it is not UTF-8. */
export function utf8Of(header: string): string | null {
  if (ASCII.test(header)) return header;
  try {
    return UTF8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return null;
  }
}

/** The control characters: C0, DEL and C1. */
export const CONTROL = /\p{Cc}/u;
