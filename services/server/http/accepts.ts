import type { IncomingMessage } from 'node:http';
import express, { type Request } from 'express';

/* How Express reads what a client would rather have (RFC 9110, section 12.5): it looks at nothing but the headers. */

/** A browser says so; a program that takes anything gets the problem document. */
export const prefersPages = (req: IncomingMessage): boolean =>
  express.request.accepts.call(req as Request, 'application/problem+json', 'text/html') === 'text/html';

export const acceptsGzip = (req: IncomingMessage): boolean =>
  express.request.acceptsEncodings.call(req as Request, 'gzip') === 'gzip';
