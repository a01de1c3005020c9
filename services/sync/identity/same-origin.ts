import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';

const refuse = (detail: string): never => {
  throw new BatonError('cross_site', detail);
};

const isForeign = (site: string | undefined): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none';

interface SameOriginParts {
  publicUrl: string;
  /** Origins whose pages may use bearer tokens. */
  corsOrigins?: readonly string[];
}

/** RFC 6750, section 2.1. */
const BEARER = /^Bearer +[\x21-\x7e]+$/i;

/**
 * The same-origin rule (CONTRACT.md, "Identity"). Repeated headers arrive joined and match nothing. Without a cookie and
 * without a browser's headers nobody else's authority can be borrowed: such requests pass.
 *
 * A page of another site cannot read a stream that it asks for, but it would hold a stream of the person's device open, in
 * place of one of theirs. So a GET, of which only streams are asked, is refused where such a page asks by a cookie.
 *
 * A page of `corsOrigins` may call a route with `cors` by a bearer token, which it can have from nobody but its user. A
 * request with a cookie is none of these, whatever else it carries.
 */
export function makeSameOrigin({ publicUrl, corsOrigins = [] }: SameOriginParts) {
  return ({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>, { cors }: { cors: boolean }): void => {
    const { origin, cookie, authorization = '' } = headers;
    const site = headers['sec-fetch-site'];
    if (method === 'GET') {
      const isAsked = origin === undefined ? isForeign(site) : origin !== publicUrl;
      if (cookie !== undefined && isAsked) refuse('A page of another site asks for a stream');
      return;
    }
    const isListed = cors && origin !== undefined && corsOrigins.includes(origin);
    if (isListed && cookie === undefined && BEARER.test(authorization)) return;
    if (origin !== undefined && origin !== publicUrl) refuse('Origin is not the origin of this service');
    if (isForeign(site)) refuse('Sec-Fetch-Site names another site');
    if (origin === undefined && site === undefined && cookie !== undefined) {
      refuse('A request with a cookie must carry Origin or Sec-Fetch-Site');
    }
  };
}
