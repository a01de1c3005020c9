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
 * Makes the same-origin rule (CONTRACT.md, "Identity"). Repeated headers arrive joined and match nothing. A request without
 * a cookie and without a browser's headers passes, because it cannot borrow anybody's authority.
 *
 * A page of another site cannot read a stream that it opens, but this stream would take the place of one of the user's
 * device. So a GET from such a page with a cookie is refused. This check runs on GET only for streams.
 *
 * A page of `corsOrigins` may call a route with `cors` with a bearer token, which it can get only from its user. A request
 * with a cookie never counts as such a call.
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
