import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const STOP_WITHIN_MS = 5_000;

/** Below the ephemeral ports, so that no outgoing connection takes one between the look and its use. */
const FIRST_PORT = 26_000;
/** Each worker of the tests has a part of its own, for none knows what another has picked and not yet bound; the rest has one, too. */
const [PARTS, PORTS] = [3, 2_000];
const PART = Number(process.env.JEST_WORKER_ID ?? 0) % PARTS;

const isFree = (port) =>
  new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });

const given = new Set();

/** A TCP port of the loopback address that nobody listens on now; a random one, because others look for one too; never the same twice. */
export async function freePort() {
  for (;;) {
    const port = FIRST_PORT + PART * PORTS + Math.floor(Math.random() * PORTS);
    if (given.has(port)) continue;
    // Before the look, so that of two who pick at once only one gets it.
    given.add(port);
    if (await isFree(port)) return port;
  }
}

/**
 * Starts a Redis of our own on loopback, with the settings that an installation is asked for, in a folder of its own.
 * `{child, url, stop, kill}` once it accepts connections; both end it and remove its folder, `stop` in order and with
 * waiting, `kill` at once.
 * `detached` keeps a Ctrl-C of the terminal from it, so that its owner can end it last.
 */
export async function startRedis({ path, detached = false }) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'baton-redis-'));
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    'client-output-buffer-limit': 'pubsub 64mb 16mb 60',
  };
  const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, ...String(value).split(' ')]);
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'inherit'], detached });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const stop = async () => {
    child.kill('SIGTERM');
    // One that was paused (SIGSTOP) does not hear it.
    const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(impatience);
    removeFolder();
  };
  const kill = () => {
    child.kill('SIGKILL');
    removeFolder();
  };

  let log = '';
  const ready = new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      // Once it serves, its log is of no interest, but must be read so that it never blocks.
      if (log.length < 65_536) log += text;
      if (log.includes('Ready to accept connections')) resolve(true);
    });
    child.once('error', () => resolve(false));
    void ended.then(() => resolve(false));
  });
  if (!(await ready)) {
    removeFolder();
    throw new Error(`redis-server did not start:\n${log}`);
  }
  return { child, url: `redis://127.0.0.1:${port}`, stop, kill };
}
