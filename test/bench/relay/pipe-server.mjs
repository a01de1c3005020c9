import { createServer } from 'node:http';

/*
 * The floor: one process that pipes a PUT into the GET of the same path, without a store. No relay in Node can do more.
 */

const waiting = new Map();

function meet(name, side, request, response) {
  const other = waiting.get(name);
  if (other === undefined) {
    waiting.set(name, { side, request, response });
    return;
  }
  waiting.delete(name);
  const [up, down] = side === 'up' ? [{ request, response }, other] : [other, { request, response }];
  down.response.writeHead(200, { 'Content-Length': up.request.headers['content-length'] });
  up.request.pipe(down.response);
  up.request.on('end', () => up.response.writeHead(204).end());
}

const server = createServer({ requestTimeout: 0, noDelay: true }, (request, response) =>
  meet(request.url, request.method === 'GET' ? 'down' : 'up', request, response),
);
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
