import { IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import type { MessageClasses } from './server.ts';

/** What every answer of a port carries: name, value, name, value. */
export type CommonHeaders = (res: ServerResponse) => readonly string[];

/** After the status: its text and headers, where they are given. */
type HeadWords = (string | OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined)[];

/** Those of the common headers that the answer does not have under the same name, and then its own. */
function withCommon(common: readonly string[], own: OutgoingHttpHeaders): OutgoingHttpHeader[] {
  const names = Object.keys(own).filter((name) => own[name] !== undefined);
  const lower = names.map((name) => name.toLowerCase());
  const all: OutgoingHttpHeader[] = [];
  for (let i = 0; i < common.length; i += 2) {
    const name = common[i] as string;
    if (!lower.includes(name.toLowerCase())) all.push(name, common[i + 1] as string);
  }
  for (const name of names) all.push(name, own[name] as OutgoingHttpHeader);
  return all;
}

/**
 * Classes whose objects already have the prototypes that Express gives to each request and response. To change a prototype
 * costs V8 what it knows of the object: a request to Express's single layer took 75 to 90 us more than to none, and takes 15
 * to 20 us more with these.
 *
 * The common headers are added when a head is written, unless the answer has its own of that name. Where it has set none by
 * `setHeader`, all go into the head as one list: to set each is to store it, to look it up and to copy it.
 */
function installClasses(app: Express, commonOf: CommonHeaders): void {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {
    override writeHead(status: number, ...rest: HeadWords): this {
      const common = commonOf(this);
      const [own = {}] = rest;
      const isPlain = rest.length < 2 && typeof own === 'object' && own !== null && !Array.isArray(own);
      if (isPlain && this.getHeaderNames().length === 0) return super.writeHead(status, withCommon(common, own));
      for (let i = 0; i < common.length; i += 2) {
        const name = common[i] as string;
        if (!this.hasHeader(name)) this.setHeader(name, common[i + 1] as string);
      }
      return super.writeHead(status, ...(rest as [OutgoingHttpHeaders?]));
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
export function makeExpress(commonOf: CommonHeaders = () => []): Express {
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
