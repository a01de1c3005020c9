import { createServer } from 'node:http';
import { Redis } from 'ioredis';

/*
 * A first, simple attempt: one stream for each file, chunks of 256 KiB added and read with the client library, a
 * blocking read, the same window. It has no resuming, no fencing and no accounts.
 */

const CHUNK = 256 * 1024;
const WINDOW = 8 * 1024 * 1024;
const url = process.argv[2];
const redis = new Redis(url);

async function upload(name, request, response) {
  const [key, taken] = [`plain:{${name}}`, `plain:{${name}}:taken`];
  let parts = [];
  let bytes = 0;
  let sent = 0;
  const flush = async () => {
    const chunk = Buffer.concat(parts);
    parts = [];
    sent += bytes;
    bytes = 0;
    while (sent - Number(await redis.get(taken)) > WINDOW) await new Promise((resolve) => setTimeout(resolve, 2));
    await redis.xadd(key, `${sent}-0`, 'd', chunk);
  };
  for await (const part of request) {
    parts.push(part);
    bytes += part.length;
    if (bytes >= CHUNK) await flush();
  }
  if (bytes > 0) await flush();
  response.writeHead(204).end();
}

async function download(name, size, response) {
  const [key, taken] = [`plain:{${name}}`, `plain:{${name}}:taken`];
  const reader = redis.duplicate();
  response.writeHead(200, { 'Content-Length': size });
  let at = 0;
  while (at < size) {
    const found = await reader.xreadBuffer('COUNT', 4, 'BLOCK', 1000, 'STREAMS', key, `${at}-0`);
    for (const [, entries] of found ?? []) {
      for (const [id, [, data]] of entries) {
        at = Number.parseInt(id.toString(), 10);
        if (!response.write(data)) await new Promise((resolve) => response.once('drain', resolve));
      }
    }
    await redis
      .pipeline()
      .set(taken, at, 'EX', 600)
      .xtrim(key, 'MINID', `${at + 1}`)
      .exec();
  }
  response.end();
  reader.disconnect();
  await redis.del(key, taken);
}

const server = createServer({ requestTimeout: 0, noDelay: true }, (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (request.method === 'GET') void download(pathname.slice(1), Number(searchParams.get('size')), response);
  else void upload(pathname.slice(1), request, response);
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
