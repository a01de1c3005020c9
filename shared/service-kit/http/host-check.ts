import { BatonError } from '../../contract/errors.ts';
import { isLoopbackName } from '../config/rules.ts';
import type { Middleware } from './middleware.ts';

/** `host` or `host:port` (RFC 9110, section 7.2); the port may be that of a tunnel. */
const HOST = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d*)?$/i;

/**
 * Refuses requests for a host that this process is not: loopback, and `allowedHosts`. Without `Host` it was no browser
 * that asked, and so no page of another site.
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

/** What goes before everything else on a port; nothing where any host may be asked for. */
export const hostChecks = (allowedHosts: readonly string[] | null): Middleware[] =>
  allowedHosts === null ? [] : [makeHostCheck(allowedHosts)];
