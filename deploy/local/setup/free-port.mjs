import { createServer } from 'node:net';

/** Whether the system has named sockets that are not files and end with their process. Other systems claim nothing. */
const CAN_CLAIM = process.platform === 'linux';

const listens = (server, options) =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ ...options, exclusive: true }, () => resolve(true));
  });

/** Whether no process listens on this TCP port of the loopback address now. */
async function isFree(port) {
  const probe = createServer();
  if (!(await listens(probe, { port, host: '127.0.0.1' }))) return false;
  await new Promise((resolve) => probe.close(resolve));
  return true;
}

/**
 * Keeps every other process that picks ports in this way off this port until this process ends, even if nothing listens
 * on it yet. Half a second passes between the probe and the bind of a child process.
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
 * Returns a free port of the loopback address, one of `count` from `first` on. The ports `offsets` above it are free too.
 * The port is random, because other processes look for one too. No process gets the same port twice, and no two processes
 * get the same port.
 */
export async function pickPort({ first, count, offsets = [0] }) {
  for (;;) {
    const port = first + Math.floor(Math.random() * count);
    if (given.has(port)) continue;
    // The port is noted before the probe, so that only one of two concurrent picks gets it.
    given.add(port);
    // A probe listens for a moment, so it must not meet the process for which another one picked this port.
    if (!(await claim(port))) continue;
    const free = await Promise.all(offsets.map((offset) => isFree(port + offset)));
    if (!free.includes(false)) return port;
  }
}
