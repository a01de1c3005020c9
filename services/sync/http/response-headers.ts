import helmet from 'helmet';
import { setVersion } from '../../../shared/service-kit/http/api-version.ts';
import type { Middleware } from '../../../shared/service-kit/http/middleware.ts';
import { PAGE_STYLE_HASH } from '../../../shared/service-kit/http/page.ts';
import { contextOf } from '../../../shared/service-kit/http/request-context.ts';

/**
 * Allows no framing, nothing from elsewhere and no inline script. `Referrer-Policy` must not be `no-referrer`, because
 * browsers then send `Origin: null` with a form of our own page. The edge sends HSTS, because it knows whether there is
 * TLS.
 */
export const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      objectSrc: ["'none'"],
      styleSrc: ["'self'", `'${PAGE_STYLE_HASH}'`],
    },
  },
  referrerPolicy: { policy: 'strict-origin' },
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
});

const isInApi = (path: string): boolean => path === '/api' || path.startsWith('/api/');

/** Sets the contract's version. No cache keeps a response of the API, unless its handler says otherwise. */
export const commonHeaders: Middleware = (_req, res, next) => {
  setVersion(res);
  if (isInApi(contextOf(res).target.path)) res.setHeader('Cache-Control', 'no-store');
  next();
};
