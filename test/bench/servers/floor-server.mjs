import { createServer } from 'node:http';
import { callerOf, makeAppender, serve } from './append.mjs';

/*
 * The floor: the least that a fan-out of server-sent events over Redis can do. One process is one "replica": a bare node:http
 * server and one script an event. It has no identity, no validation, no limits, no mailbox, no presence and no resume. It
 * speaks as much of the wire contract as the load needs, so that the same load measures it and the product.
 */

const [redisUrl, prefix] = process.argv.slice(2);
const appender = await makeAppender({ redisUrl, prefix, kind: 'floor' });

function answer(res, status, body) {
  const json = JSON.stringify(body);
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(json),
  });
  res.end(json);
}

async function openStream(req, res) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store, no-transform' });
  await appender.addStream(callerOf(req), res);
}

async function accept(req, res, text) {
  const data = await appender.append(`${req.method} ${req.url}`, JSON.parse(text), callerOf(req));
  answer(res, data === null ? 404 : 201, data ?? {});
}

const listDevices = async (req, res) => answer(res, 200, { devices: await appender.devicesOf(callerOf(req)) });

const server = createServer({ noDelay: true, keepAliveTimeout: 75_000 }, (req, res) => {
  const fail = (error) => res.destroy(error);
  if (req.url === '/api/hub/events') return void openStream(req, res).catch(fail);
  if (req.method === 'GET') return void listDevices(req, res).catch(fail);
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => void accept(req, res, Buffer.concat(chunks).toString()).catch(fail));
});

await serve(server);
