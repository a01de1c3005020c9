import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import { API_VERSION } from '../../server/http/api-version.ts';
import { type CommonHeaders, HeaderBlock } from '../../server/http/header-block.ts';
import { PAGE_STYLE_HASH } from '../../server/http/page.ts';
import { contextOf, type RequestContext } from '../../server/http/request-context.ts';

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

const ON_EVERY_ANSWER: [string, string][] = [['X-Api-Version', API_VERSION], ...readSecurityHeaders()];
const EVERYWHERE = new HeaderBlock(ON_EVERY_ANSWER);
const IN_API = new HeaderBlock([...ON_EVERY_ANSWER, ['Cache-Control', 'no-store']]);

const isInApi = (path: string): boolean => path === '/api' || path.startsWith('/api/');

/**
 * What every answer of the public port carries, errors included. Of what Node refuses by itself, before anybody here sees it
 * (no `Host`, an `Expect` that it does not know), there is no context.
 */
export const commonHeaders: CommonHeaders = (res, own) => {
  const context = contextOf(res) as RequestContext | undefined;
  if (context === undefined) return EVERYWHERE.linesWithout(own);
  const lines = (isInApi(context.target.path) ? IN_API : EVERYWHERE).linesWithout(own);
  return own.includes('x-request-id') ? lines : `X-Request-Id: ${context.requestId}\r\n${lines}`;
};
