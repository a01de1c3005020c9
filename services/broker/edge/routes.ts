import type { Request, RequestHandler } from 'express';
import { BatonError } from '../../../shared/contract/errors.ts';
import { bearerOf } from '../http/service-auth.ts';
import { cookiesNamed } from '../sessions/credentials/cookie.ts';
import type { SessionRecord } from '../sessions/record.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Tokens } from '../sessions/credentials/tokens.ts';

interface ForwardAuthParts {
  /** The app whose sessions the edge lets in. Sessions that another app at this broker minted are refused. */
  app: string;
  sessions: Sessions;
  tokens: Tokens;
  cookieName: string;
}

/** Identifies a request by its bearer token, if it has one, because a native client may send an old cookie beside it. */
function identify(req: Request, { sessions, app, cookieName }: ForwardAuthParts): Promise<SessionRecord> {
  if (req.headers.authorization !== undefined) {
    const token = bearerOf(req);
    if (token !== null) return sessions.ofAccessToken(app, token);
    throw new BatonError('unauthenticated');
  }
  const [credential, ...others] = cookiesNamed(req, cookieName);
  if (credential === undefined || others.length > 0) throw new BatonError('unauthenticated');
  return sessions.ofCredential(app, credential);
}

/** Turns a 403 into a 401, because for an edge a refused account is not signed in. */
function asUnauthenticated(error: unknown): unknown {
  return error instanceof BatonError && error.status === 403 ? new BatonError('unauthenticated') : error;
}

const IDENTITY = ['X-Auth-Subject', 'X-Auth-Scope', 'X-Auth-Meta', 'X-Auth-Name', 'X-Auth-Roles', 'X-Auth-Assertion'];

/** Returns the method of the original request, as Traefik and Caddy, ingress-nginx, or Envoy pass it. */
const methodOf = ({ method, headers }: Request): unknown =>
  headers['x-forwarded-method'] ?? headers['x-original-method'] ?? method;

/** Returns whether this is a CORS preflight, which carries no credentials. Replicas answer it without an identity. */
const isPreflight = (req: Request): boolean =>
  methodOf(req) === 'OPTIONS' && req.headers.authorization === undefined && req.headers.cookie === undefined;

/**
 * Makes forward-auth for an edge: 200 with the identity of the request in headers, else 401. All of these headers are always
 * present, even if empty, so that an edge that copies them overwrites whatever the client sent under these names.
 */
export const makeForwardAuth =
  (parts: ForwardAuthParts): RequestHandler =>
  async (req, res) => {
    if (isPreflight(req)) {
      for (const name of IDENTITY) res.setHeader(name, '');
      res.status(200).end();
      return;
    }
    const session = await identify(req, parts).catch((error: unknown) => {
      throw asUnauthenticated(error);
    });
    const { subject, scope, meta, user } = session;
    res.setHeader('X-Auth-Subject', subject);
    res.setHeader('X-Auth-Scope', scope);
    res.setHeader('X-Auth-Meta', meta);
    res.setHeader('X-Auth-Name', encodeURIComponent(user.name));
    res.setHeader('X-Auth-Roles', user.roles.join(','));
    res.setHeader('X-Auth-Assertion', await parts.tokens.assertion(session));
    res.status(200).end();
  };
