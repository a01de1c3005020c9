import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import express from 'express';
import { callerOf, makeAppender, serve } from './append.mjs';

/*
 * A server that a careful person writes by hand in an afternoon: Express 5, ioredis, the same script and the same
 * streams as the floor, bodies parsed and checked, no unwanted headers. It lacks what the product is for: proof of
 * identity, limits, mailboxes, presence, resume, and the handling of faults.
 *
 * With `classes` after the prefix it is the twin: the same server with the request classes that Baton uses.
 */

const [redisUrl, prefix, variant] = process.argv.slice(2);
const appender = await makeAppender({ redisUrl, prefix, kind: variant === 'classes' ? 'express-classes' : 'express' });
const isText = (value) => typeof value === 'string' && value !== '';

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use((req, res, next) => {
  res.locals.caller = callerOf(req);
  if (isText(res.locals.caller.user) && isText(res.locals.caller.device)) return next();
  res.status(401).json({ code: 'unauthenticated' });
});

app.get('/api/hub/events', async (_req, res) => {
  res.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store, no-transform' });
  res.flushHeaders();
  await appender.addStream(res.locals.caller, res);
});
app.get('/api/devices', async (_req, res) => {
  res.json({ devices: await appender.devicesOf(res.locals.caller) });
});

const json = express.json({ limit: '128kb' });
const accept = (isValid) => async (req, res) => {
  if (!isValid(req.body)) return res.status(400).json({ code: 'invalid_request' });
  res.status(201).json(await appender.append(`${req.method} ${req.path}`, req.body, res.locals.caller));
};
app.post(
  '/api/message',
  json,
  accept(({ to, to_device_id: id, content }) => isText(content) && isText(id ?? to)),
);
app.post(
  '/api/message/ack',
  json,
  accept(({ message_ids: ids }) => Array.isArray(ids) && ids.every(isText)),
);
app.post(
  '/api/hub/signal',
  json,
  accept(({ to_device_id: id, kind }) => isText(id) && isText(kind)),
);
app.put(
  '/api/clipboard',
  json,
  accept(({ content }) => isText(content)),
);

/**
 * Classes whose objects already have the prototypes that Express would set on each request and response
 * (shared/service-kit/http/express-app.ts).
 */
function requestClasses() {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

const classes = variant === 'classes' ? requestClasses() : {};
await serve(createServer({ ...classes, noDelay: true, keepAliveTimeout: 75_000 }, app));
