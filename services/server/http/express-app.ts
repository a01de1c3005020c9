import express, { type Express } from 'express';

/** An empty Express app with the settings of both ports: it does not name itself, and no answer carries an ETag. */
export function makeExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Repeated fields become arrays, which validation refuses; no nested objects from brackets.
  app.set('query parser', 'simple');
  return app;
}
