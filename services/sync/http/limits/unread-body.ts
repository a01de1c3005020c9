import type { ServerResponse } from 'node:http';
import type { Middleware } from '../../../../shared/service-kit/http/middleware.ts';

/** How long the rest of a body is read after the response, so that its sender sees the response. */
const LINGER_MS = 2_000;

/**
 * Bounds the body that is left when a response, such as a refusal, comes before its end. The rest is read for a moment
 * and thrown away, then the connection is cut. The rest may be gigabytes, or one byte now and then without end. If the
 * body ends in time, the connection stays open.
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
  // A reader that gave up has left the body paused.
  req.on('data', () => undefined).resume();
}
