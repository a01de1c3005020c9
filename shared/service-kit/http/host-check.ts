import { BatonError } from '../../contract/errors.ts';
import { isLoopbackName } from '../config/rules.ts';
import type { Middleware } from './middleware.ts';

/** `host` or `host:port` (RFC 9110, section 7.2). The port may be that of a tunnel. */
const HOST = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d*)?$/i;

/**
 * Makes the refusal of requests for any host but loopback and `allowedHosts`. A request without `Host` does not come from a
 * browser, and so not from a page of another site.
 */
function makeHostCheck(allowedHosts: readonly string[]): Middleware {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const expected = ['localhost', ...allowed].filter((host, i, all) => all.indexOf(host) === i).join(' or ');
  return ({ headers: { host } }, _res, next) => {
    const name = host === undefined ? 'localhost' : (HOST.exec(host)?.[1] ?? '').toLowerCase();
    if (isLoopbackName(name) || allowed.has(name)) return next();
    const errors = [{ path: '/header/Host', message: `must be ${expected}` }];
    throw new BatonError('invalid_request', `This process serves only its own machine: Host must be ${expected}`, {
      errors,
    });
  };
}

/** Returns the host check of a port, which goes first; nothing if any host is allowed. */
export const hostChecks = (allowedHosts: readonly string[] | null): Middleware[] =>
  allowedHosts === null ? [] : [makeHostCheck(allowedHosts)];
