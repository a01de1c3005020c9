import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';

/** The one value of a header, null when it is absent. Call `refuseAmbiguous` first, or repeated ones are joined. */
export function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

/** How some servers spell a header: CGI and its heirs make no difference between `_` and `-`. */
const asTwin = (name: string): string => (name.includes('_') ? name.replaceAll('_', '-') : name);

/** The (lower-case) headers as often as they are there, under their own name or that of a twin. */
function foundOf({ rawHeaders }: IncomingMessage, names: readonly string[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (names.includes(asTwin(name))) found.push(name);
  }
  return found;
}

/** Whether any of the (lower-case) headers is there, under its own name or that of its twin. */
export const carriesAny = (req: IncomingMessage, names: readonly string[]): boolean => foundOf(req, names).length > 0;

/**
 * An identity header that occurs twice, or beside its underscore twin, was added to by somebody: which of the two an
 * edge had checked cannot be known.
 * @throws invalid_request that names each such header
 */
export function refuseAmbiguous(req: IncomingMessage, names: readonly string[]): void {
  const found = foundOf(req, names);
  const wrong = found.filter((name, index) => !names.includes(name) || found.indexOf(name) !== index);
  if (wrong.length === 0) return;
  const errors = wrong.map((name) => ({ path: `/header/${name}`, message: 'occurs twice or with an underscore' }));
  throw new BatonError('invalid_request', 'An identity header is ambiguous', { errors });
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Node gives header bytes as Latin-1. Null when they are not UTF-8. */
export function utf8Of(header: string): string | null {
  try {
    return UTF8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return null;
  }
}

/** C0, DEL and C1. */
export const CONTROL = /\p{Cc}/u;
