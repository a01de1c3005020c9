import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import type { MessageClasses } from './server.ts';

/**
 * Gives the app classes for requests and responses whose objects already have the prototypes that Express wants. Express
 * changes the prototype of any other object, and V8 then forgets what it knows about the object: a request takes 150 us
 * more.
 */
function installClasses(app: Express): void {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
}

/** An empty Express app with the settings of both ports: it does not name itself, and no answer carries an ETag. */
export function makeExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Repeated fields become arrays, which validation refuses; no nested objects from brackets.
  app.set('query parser', 'simple');
  installClasses(app);
  return app;
}

/** The classes with which `createServer` makes the messages of this app. */
export const messageClasses = ({ request, response }: Express): MessageClasses => ({
  IncomingMessage: request.constructor as typeof IncomingMessage,
  ServerResponse: response.constructor as typeof ServerResponse,
});
