import { parse, type ParsedUrlQuery } from 'node:querystring';

export interface Target {
  /** The path as it was sent, undecoded. */
  readonly path: string;
  /** The query without its question mark; empty if there is none. */
  readonly search: string;
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** Parses the target of a request (RFC 9112, section 3.2). The origin of a target in absolute form is ignored. */
export function targetOf(url: string): Target {
  const whole = url.startsWith('/') ? url : url.replace(ORIGIN, '');
  const fragment = whole.indexOf('#');
  const target = fragment === -1 ? whole : whole.slice(0, fragment);
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, search: '' } : { path: target.slice(0, mark), search: target.slice(mark + 1) };
}

/**
 * Returns the target without origin and fragment. Express gives other forms to an older parser, which reads `\` as `/` and
 * finds no path in `foo://host`, so that such a request would bypass every middleware.
 */
export function originFormOf(url: string): string {
  if (url.startsWith('/') && !url.includes('#')) return url;
  const { path, search } = targetOf(url);
  return (path || '/') + (search === '' ? '' : `?${search}`);
}

/** Parses the fields of a query. Repeated ones become arrays, which validation refuses. Brackets make no nested objects. */
export const queryOf = ({ search }: Target): ParsedUrlQuery => parse(search);
