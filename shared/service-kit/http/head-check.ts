import { BatonError } from '../../contract/errors.ts';
import type { Middleware } from './middleware.ts';

/**
 * Refuses what Node would otherwise refuse before the app sees it, so that these responses also have the headers of all
 * responses. An HTTP/1.1 request must name its host (RFC 9112, section 3.2). `100-continue` is the only defined expectation
 * (RFC 9110, section 10.1.1).
 */
export const checkHead: Middleware = ({ headers: { host, expect }, httpVersion }, res, next) => {
  if (host === undefined && httpVersion === '1.1') throw new BatonError('invalid_request', 'Host is required');
  if (expect === undefined || /\b100-continue\b/i.test(expect)) return next();
  res.statusCode = 417;
  res.end();
};
