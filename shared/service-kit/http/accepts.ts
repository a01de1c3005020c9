import type { IncomingMessage } from 'node:http';
import express, { type Request } from 'express';

/* Content negotiation by Express (RFC 9110, section 12.5), which reads only the headers. */

/** Returns whether the client prefers HTML, as browsers do. A program that accepts anything gets the problem document. */
export const prefersPages = (req: IncomingMessage): boolean =>
  express.request.accepts.call(req as Request, 'application/problem+json', 'text/html') === 'text/html';

/**
 * Returns the first of these encodings that the client accepts; null if it wants the bytes unencoded. Express would choose
 * by the order in the header, in which browsers name the oldest encoding first.
 */
export const acceptedEncoding = <T extends string>(req: IncomingMessage, encodings: readonly T[]): T | null =>
  encodings.find((encoding) => express.request.acceptsEncodings.call(req as Request, encoding) === encoding) ?? null;
