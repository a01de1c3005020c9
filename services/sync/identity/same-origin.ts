import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';

const refuse = (detail: string): never => {
  throw new BatonError('cross_site', detail);
};

/**
 * The same-origin rule (CONTRACT.md, "Identity") for unsafe methods. Repeated headers arrive joined and match nothing.
 * Without a cookie and without a browser's headers nobody else's authority can be borrowed: such requests pass.
 */
export function makeSameOrigin({ publicUrl }: { publicUrl: string }): (req: IncomingMessage) => void {
  return ({ headers }) => {
    const { origin, cookie } = headers;
    const site = headers['sec-fetch-site'];
    if (origin !== undefined && origin !== publicUrl) refuse('Origin is not the origin of this service');
    if (site !== undefined && site !== 'same-origin' && site !== 'none') refuse('Sec-Fetch-Site names another site');
    if (origin === undefined && site === undefined && cookie !== undefined) {
      refuse('A request with a cookie must carry Origin or Sec-Fetch-Site');
    }
  };
}
