import { IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import type { CommonHeaders } from './header-block.ts';
import type { MessageClasses } from './server.ts';

/** As Node hands them to whatever writes a head: those that were set, or what `writeHead` was given. */
type GivenHeaders =
  | OutgoingHttpHeaders
  | readonly (OutgoingHttpHeader | readonly OutgoingHttpHeader[])[]
  | null
  | undefined;

/**
 * Where Node makes the text of a head, from its first line on. It has no public name. Elsewhere common headers can only be added
 * one by one, of which Node checks, copies and looks at each: ten of them took a tenth of the time of an accepted message.
 */
const { _storeHeader: storeHeader } = ServerResponse.prototype as unknown as {
  _storeHeader: (this: ServerResponse, firstLine: string, given: GivenHeaders) => void;
};
if (typeof storeHeader !== 'function')
  throw new Error('this Node makes heads elsewhere: no answer would carry what it must');

/** Of an object, of a flat list of name and value, or of a list of such pairs. */
function namesIn(given: NonNullable<GivenHeaders>): unknown[] {
  if (!Array.isArray(given)) return Object.keys(given);
  return Array.isArray(given[0]) ? given.map(([name]) => name) : given.filter((_, i) => i % 2 === 0);
}

/** The lower-case names of an answer's own headers. Where it has set any, it has set all. */
function ownNames(res: ServerResponse, given: GivenHeaders): readonly string[] {
  const set = res.getHeaderNames();
  return set.length > 0 || !given ? set : namesIn(given).map((name) => String(name).toLowerCase());
}

/**
 * Classes whose objects already have the prototypes that Express gives to each request and response. To change a prototype
 * costs V8 what it knows of the object: a request to Express's single layer took 75 to 90 us more than to none, and takes 15
 * to 20 us more with these. The common headers go into each head as one text, but for those of which the answer has its own.
 */
function installClasses(app: Express, commonOf: CommonHeaders): void {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {
    _storeHeader(firstLine: string, given: GivenHeaders): void {
      storeHeader.call(this, firstLine + commonOf(this, ownNames(this, given)), given);
    }
  }
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
}

/**
 * An empty Express app with the settings of both ports: it does not name itself, and no answer carries an ETag. What
 * `commonOf` gives is on every answer.
 */
export function makeExpress(commonOf: CommonHeaders = () => ''): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Repeated fields become arrays, which validation refuses; no nested objects from brackets.
  app.set('query parser', 'simple');
  installClasses(app, commonOf);
  return app;
}

/** Of which a server makes its messages, so that Express finds their prototypes to be right. */
export const messageClasses = ({ request, response }: Express): MessageClasses => ({
  IncomingMessage: request.constructor as typeof IncomingMessage,
  ServerResponse: response.constructor as typeof ServerResponse,
});
