import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';

/** The one value of a header, null when it is absent. Call `refuseAmbiguous` first, or repeated ones are joined. */
export function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

/** How some servers spell a header: CGI and its heirs make no difference between `_` and `-`. */
const asTwin = (name: string): string => (name.includes('_') ? name.replaceAll('_', '-') : name);

/** Whether it is one of the names, under its own or that of a twin. Most are told by their length. */
function isAmong(raw: string, names: readonly string[]): boolean {
  for (const name of names) {
    if (name.length === raw.length && asTwin(raw.toLowerCase()) === name) return true;
  }
  return false;
}

/** Whether any of the (lower-case) headers is there, under its own name or that of its twin. */
export const carriesAny = ({ rawHeaders }: IncomingMessage, names: readonly string[]): boolean =>
  rawHeaders.some((raw, i) => i % 2 === 0 && isAmong(raw, names));

/**
 * An identity header that occurs twice, or beside its underscore twin, was added to by somebody: which of the two an
 * edge had checked cannot be known.
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

/** Node gives header bytes as Latin-1. Null when they are not UTF-8. */
export function utf8Of(header: string): string | null {
  if (ASCII.test(header)) return header;
  try {
    return UTF8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return null;
  }
}

/** C0, DEL and C1. */
export const CONTROL = /\p{Cc}/u;
