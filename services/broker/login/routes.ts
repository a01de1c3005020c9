import type { Request, RequestHandler, Response } from 'express';
import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import type { Logger } from 'pino';
import { BatonError } from '../../../shared/contract/errors.ts';
import { cookieForm, setCookie } from '../sessions/credentials/cookie.ts';
import type { LoggedIn, Sessions } from '../sessions/sessions.ts';
import type { Attempts } from './attempt.ts';
import { devLoginPage, loginFailedPage } from './pages.ts';
import type { Provider } from './provider.ts';
import { typedUser, userOf } from './user.ts';

interface LoginParts {
  sessions: Sessions;
  /** The app of the sessions that a login makes. */
  app: string;
  publicUrl: string;
  returnTo: (text: string | null) => string;
  logger: Logger;
}

interface ProviderLoginParts extends LoginParts {
  provider: Provider;
  attempts: Attempts;
  rolesClaim: string;
}

interface LoginHandlers {
  /** `GET /login` */
  begin: RequestHandler;
  /** `GET /login/callback` or `POST /login/dev` */
  finish: RequestHandler;
}

/** Returns a field of a query or a form; null if it is absent. Throws `invalid_request` if it occurs more than once. */
function fieldOf(place: 'query' | 'body', fields: unknown, name: string): string | null {
  const value: unknown = (fields as Record<string, unknown> | undefined)?.[name];
  if (value === undefined || typeof value === 'string') return value ?? null;
  const errors = [{ path: `/${place}/${name}`, message: 'occurs more than once' }];
  throw new BatonError('invalid_request', `${name} occurs more than once`, { errors });
}

/** Returns a path of ours as browsers must request it, below the path of the public URL. */
const publicPath = (publicUrl: string, path: string): string => new URL(publicUrl).pathname.replace(/\/$/, '') + path;

function makeSignIn({ sessions, app, publicUrl }: LoginParts) {
  const form = cookieForm(publicUrl);
  return async (res: Response, user: LoggedIn, returnTo: string, ...cookies: string[]): Promise<void> => {
    const { credential } = await sessions.open(app, user);
    res.setHeader('Set-Cookie', [setCookie(form, credential, null), ...cookies]);
    res.redirect(303, returnTo);
  };
}

/** Returns the failure in words for the user. Details go only to the log. */
function failureOf(error: unknown): { status: number; says: string } {
  if (error instanceof BatonError) return { status: error.status, says: error.message };
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    return { status: 403, says: 'The identity provider did not sign you in.' };
  }
  return { status: 503, says: 'The identity provider could not be reached, or gave an unusable answer.' };
}

/** Makes the handlers of a login by an OpenID provider. */
export function makeProviderLogin(parts: ProviderLoginParts): LoginHandlers {
  const { provider, attempts, rolesClaim, publicUrl, returnTo, logger } = parts;
  const signIn = makeSignIn(parts);

  /** Answers with a page. Cookies that were set before stay, because they forget the attempt. */
  function fail(req: Request, res: Response, error: unknown, wanted: string | null): void {
    if (error instanceof BatonError && error.status >= 500) throw error;
    const { status, says } = failureOf(error);
    logger.warn({ req, err: error, status }, 'login failed');
    const query = wanted === null ? '' : `?return_to=${encodeURIComponent(wanted)}`;
    const again = publicPath(publicUrl, `/login${query}`);
    res.status(status).type('html').send(loginFailedPage({ says, again }));
  }

  return {
    async begin(req, res) {
      const wanted = returnTo(fieldOf('query', req.query, 'return_to'));
      try {
        const { url, attempt } = await provider.begin(wanted);
        res.setHeader('Set-Cookie', await attempts.remember(req, attempt));
        res.redirect(302, url);
      } catch (error) {
        fail(req, res, error, wanted);
      }
    },

    async finish(req, res) {
      const recalled = await attempts.recall(req, fieldOf('query', req.query, 'state') ?? '');
      if (recalled === null) {
        const says = 'This sign-in was begun in another browser, was finished already, or took too long.';
        return fail(req, res, new BatonError('invalid_request', says), null);
      }
      const { attempt, forget } = recalled;
      // An attempt is used only once, whatever its outcome.
      res.setHeader('Set-Cookie', forget);
      try {
        const query = /\?.*/s.exec(req.originalUrl)?.[0] ?? '';
        const user = userOf(await provider.finish(query, attempt), rolesClaim);
        await signIn(res, user, attempt.returnTo, forget);
      } catch (error) {
        fail(req, res, error, attempt.returnTo);
      }
    },
  };
}

/** Refuses a form of another site, which must not sign anybody in. Programs send neither header. */
function refuseCrossSite({ headers }: Request, publicUrl: string): void {
  const site = headers['sec-fetch-site'];
  const foreign = headers.origin !== undefined && headers.origin !== new URL(publicUrl).origin;
  if (foreign || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    throw new BatonError('cross_site', 'The form must come from the login page of this broker');
  }
}

/** Makes the handlers of a login that believes every name, for development. */
export function makeDevLogin(parts: LoginParts): LoginHandlers {
  const { publicUrl, returnTo } = parts;
  const signIn = makeSignIn(parts);
  const action = publicPath(publicUrl, '/login/dev');
  return {
    begin(req, res) {
      const wanted = returnTo(fieldOf('query', req.query, 'return_to'));
      res.type('html').send(devLoginPage({ action, returnTo: wanted }));
    },

    async finish(req, res) {
      refuseCrossSite(req, publicUrl);
      const user = typedUser(fieldOf('body', req.body, 'user') ?? '');
      await signIn(res, user, returnTo(fieldOf('body', req.body, 'return_to')));
    },
  };
}
