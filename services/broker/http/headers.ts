import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { setVersion } from '../../../shared/service-kit/http/api-version.ts';
import { PAGE_STYLE_HASH } from '../../../shared/service-kit/http/page.ts';

/** The version of the contract; and every answer is about credentials: what may be kept says so itself. */
export const versionAndNoStore: RequestHandler = (_req, res, next) => {
  setVersion(res);
  res.setHeader('Cache-Control', 'no-store');
  next();
};

/**
 * No framing, no script, nothing from elsewhere. `form-action` also binds where a form's answer may redirect to, hence
 * the origins of `BROKER_RETURN_ORIGINS`.
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
    // Not `no-referrer`: browsers then send `Origin: null` with the form.
    referrerPolicy: { policy: 'strict-origin' },
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
  });
