import { createServer } from 'node:net';

/** Linux has names for sockets that are no files and end with their process. Elsewhere nothing is claimed. */
const CAN_CLAIM = process.platform === 'linux';

const listens = (server, options) =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ ...options, exclusive: true }, () => resolve(true));
  });

/** Whether nobody listens on this TCP port of the loopback address now. */
async function isFree(port) {
  const probe = createServer();
  if (!(await listens(probe, { port, host: '127.0.0.1' }))) return false;
  await new Promise((resolve) => probe.close(resolve));
  return true;
}

/**
 * Keeps every other process that picks ports in this way off this one until this process ends, whether or not anybody
 * listens on it yet: between the look and the bind of a child there is half a second.
 */
async function claim(port) {
  if (!CAN_CLAIM) return true;
  const server = createServer();
  const claimed = await listens(server, { path: `\0baton-port-${port}` });
  server.unref();
  return claimed;
}

const given = new Set();

/**
 * A port of the loopback address from `first` on, one of `count`, that is free, as are those `offsets` above it. A random
 * one, because others look for one too; never the same twice in one process, nor one that another process was given.
 */
export async function pickPort({ first, count, offsets = [0] }) {
  for (;;) {
    const port = first + Math.floor(Math.random() * count);
    if (given.has(port)) continue;
    // Before the look, so that of two who pick at once only one gets it.
    given.add(port);
    const free = await Promise.all(offsets.map((offset) => isFree(port + offset)));
    if (!free.includes(false) && (await claim(port))) return port;
  }
}
