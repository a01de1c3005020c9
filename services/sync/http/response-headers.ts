import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import { setVersion } from '../../server/http/api-version.ts';
import { PAGE_STYLE_HASH } from '../../server/http/page.ts';

/**
 * No framing, nothing from elsewhere, no inline script. `Referrer-Policy` must not be `no-referrer`: browsers then
 * send `Origin: null` with a form of our own page. HSTS is the edge's: it knows whether there is TLS.
 */
const setSecurityHeaders = helmet({
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

/** None of them depends on the request, so they are asked for once: the chain of steps costs more than the headers. */
function readSecurityHeaders(): [string, string][] {
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  setSecurityHeaders(res.req, res, (error) => {
    if (error instanceof Error) throw error;
  });
  return Object.entries(res.getHeaders()).map(([name, value]) => [name, String(value)]);
}

const SECURITY_HEADERS = readSecurityHeaders();

/** What every answer of the public port carries, errors included. */
export function setHeaders(res: ServerResponse, path: string): void {
  setVersion(res);
  if (path === '/api' || path.startsWith('/api/')) res.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of SECURITY_HEADERS) res.setHeader(name, value);
}
