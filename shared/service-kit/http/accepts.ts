import type { IncomingMessage } from 'node:http';
import express, { type Request } from 'express';

/* How Express reads what a client would rather have (RFC 9110, section 12.5): it looks at nothing but the headers. */

/** A browser says so; a program that takes anything gets the problem document. */
export const prefersPages = (req: IncomingMessage): boolean =>
  express.request.accepts.call(req as Request, 'application/problem+json', 'text/html') === 'text/html';

/** The first of these that the client takes; null: it wants the bytes as they are. */
export function acceptedEncoding<T extends string>(req: IncomingMessage, encodings: readonly T[]): T | null {
  if (encodings.length === 0) return null;
  const chosen = express.request.acceptsEncodings.call(req as Request, ...encodings);
  return encodings.find((encoding) => encoding === chosen) ?? null;
}
