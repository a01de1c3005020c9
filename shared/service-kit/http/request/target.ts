import { parse, type ParsedUrlQuery } from 'node:querystring';

export interface Target {
  /** As it was sent: nothing in it is decoded. */
  readonly path: string;
  /** Without its question mark; empty when there is none. */
  readonly search: string;
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** What a request asks for (RFC 9112, section 3.2). The origin of a target in absolute form says nothing here. */
export function targetOf(url: string): Target {
  const whole = url.startsWith('/') ? url : url.replace(ORIGIN, '');
  const fragment = whole.indexOf('#');
  const target = fragment === -1 ? whole : whole.slice(0, fragment);
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, search: '' } : { path: target.slice(0, mark), search: target.slice(mark + 1) };
}

/**
 * The target as Express reads it: without origin and fragment. What is in another form it gives to an older parser, which takes
 * `\` for `/`, and finds no path in `foo://host`; such a request would pass every middleware by.
 */
export function originFormOf(url: string): string {
  if (url.startsWith('/') && !url.includes('#')) return url;
  const { path, search } = targetOf(url);
  return (path || '/') + (search === '' ? '' : `?${search}`);
}

/** The fields of a query. Repeated ones become arrays, which validation refuses; no nested objects from brackets. */
export const queryOf = ({ search }: Target): ParsedUrlQuery => parse(search);
