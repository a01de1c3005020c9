import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { setVersion } from '../../../shared/service-kit/http/api-version.ts';
import { PAGE_STYLE_HASH } from '../../../shared/service-kit/http/page.ts';

/**
 * Sets the version of the contract, and `no-store`, because answers are about credentials. A cacheable answer replaces
 * `no-store`.
 */
export const versionAndNoStore: RequestHandler = (_req, res, next) => {
  setVersion(res);
  res.setHeader('Cache-Control', 'no-store');
  next();
};

/**
 * Makes the security headers: no framing, no script, nothing from other origins. `form-action` also limits where a form's
 * response may redirect, so it has the origins of `BROKER_RETURN_ORIGINS`.
 */
export const makeSecurityHeaders = ({ returnOrigins }: { returnOrigins: readonly string[] }): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'", ...returnOrigins],
        frameAncestors: ["'none'"],
        styleSrc: [`'${PAGE_STYLE_HASH}'`],
      },
    },
    // It is not `no-referrer`, because browsers then send `Origin: null` with the form.
    referrerPolicy: { policy: 'strict-origin' },
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
  });
