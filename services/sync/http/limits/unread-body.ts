import type { ServerResponse } from 'node:http';
import type { Middleware } from '../../../../shared/service-kit/http/middleware.ts';

/** How long the rest of a body is still read after its answer, so that its sender gets to see the answer. */
const LINGER_MS = 2_000;

/**
 * An answer that comes before the end of the body, such as a refusal: what is left is read for a moment and thrown away,
 * then the connection is cut. It may be gigabytes, or a byte now and then for as long as the sender likes. Whose body
 * ends in time keeps the connection.
 */
export const boundUnreadBody: Middleware = (req, res, next) => {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = req.headers;
  if (length !== '0' || coding !== undefined) res.on('finish', bound);
  next();
};

function bound(this: ServerResponse): void {
  const { req } = this;
  if (req.complete) return;
  const { socket } = req;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  req.once('close', () => clearTimeout(timer));
  // Whoever began to read the body and gave up has paused it.
  req.on('data', () => undefined).resume();
}
