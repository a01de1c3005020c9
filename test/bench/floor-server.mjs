import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';

/*
 * The floor: the least that a fan-out of server-sent events over Redis can do. One process is one "replica": a bare
 * node:http server, one script per event (XADD and PUBLISH), and every process listens on the one channel. No identity,
 * no validation, no mailbox, no presence, no resume. It speaks as much of the wire contract as the client needs, so
 * that the same client measures both, and its events have the same bytes as the product's.
 */

const [redisUrl, prefix] = process.argv.slice(2);
const CHANNEL = `${prefix}:floor`;
/** As many entries as the product keeps; the two differ in nothing that the script writes but its size. */
const LOG_EVENTS = 256;
const APPEND = `
local id = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], '*', 'd', ARGV[4])
redis.call('PUBLISH', ARGV[2], ARGV[3] .. '\\n' .. id .. '\\n' .. ARGV[4])
return id`;
/** The longest silence that the client allows to be announced: this server sends no `ping`. */
const HEARTBEAT_MS = 600_000;

const redis = new Redis(redisUrl);
redis.defineCommand('floorAppend', { lua: APPEND, numberOfKeys: 1 });
const subscriber = new Redis(redisUrl);
const streams = new Map();

subscriber.on('message', (_channel, payload) => {
  const deviceEnd = payload.indexOf('\n');
  const stream = streams.get(payload.slice(0, deviceEnd));
  if (stream === undefined) return;
  const idEnd = payload.indexOf('\n', deviceEnd + 1);
  stream.write(`id: ${payload.slice(deviceEnd + 1, idEnd)}\nevent: message\ndata: ${payload.slice(idEnd + 1)}\n\n`);
});

function openStream(req, res) {
  const device = req.headers['x-dev-device'];
  streams.set(device, res);
  res.on('close', () => {
    if (streams.get(device) === res) streams.delete(device);
  });
  res.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store, no-transform' });
  res.write(`event: ready\ndata: {"resumed":false,"reason":"new","heartbeat_ms":${HEARTBEAT_MS}}\n\n`);
}

async function acceptMessage(req, res, body) {
  const { to_device_id: to, content } = JSON.parse(body);
  const message = {
    message_id: randomUUID(),
    from_device_id: req.headers['x-dev-device'],
    from_name: req.headers['x-dev-name'],
    content,
    created_at: Date.now(),
    redelivered: false,
  };
  const log = `${prefix}:{${req.headers['x-dev-user']}}:log`;
  await redis.floorAppend(log, LOG_EVENTS, CHANNEL, to, JSON.stringify(message));
  res.writeHead(201, { 'Content-Type': 'application/json; charset=utf-8' });
  res.end(JSON.stringify({ message_id: message.message_id, to: [], created_at: message.created_at }));
}

const server = createServer({ noDelay: true, keepAliveTimeout: 75_000 }, (req, res) => {
  if (req.method === 'GET') return openStream(req, res);
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    acceptMessage(req, res, Buffer.concat(chunks).toString()).catch((error) => res.destroy(error));
  });
});

await subscriber.subscribe(CHANNEL);
await new Promise((resolve) => server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, resolve));
process.send({ port: server.address().port });
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
