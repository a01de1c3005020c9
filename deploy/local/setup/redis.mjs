import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pickPort } from './free-port.mjs';

const STOP_WITHIN_MS = 5_000;

/** The ports are below the ephemeral ones, so that no outgoing connection takes one between the probe and its use. */
const PORTS = { first: 26_000, count: 6_000 };

/** Returns a TCP port of the loopback address that is free now, for one use. */
export const freePort = () => pickPort(PORTS);

/**
 * Starts a Redis of Baton's own on loopback, with the settings that an installation needs, in its own folder. Resolves to
 * `{child, url, stop, kill}` once it accepts connections. `stop` ends it in order and waits, `kill` ends it at once; both
 * remove its folder. `detached` shields it from a Ctrl-C of the terminal, so that its owner can end it last. `password` is the
 * one that it demands of every client. It reads its settings from standard input, because everybody on the machine can read a
 * command line. `url` does not contain the password.
 */
export async function startRedis({ path, detached = false, password = null }) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'baton-redis-'));
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: JSON.stringify(folder),
    save: '""',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    'client-output-buffer-limit': 'pubsub 64mb 16mb 60',
    ...(password === null ? {} : { requirepass: password }),
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} ${value}\n`);
  const child = spawn(path, ['-'], { stdio: ['pipe', 'pipe', 'inherit'], detached });
  // The code below reports a failed start.
  child.stdin.on('error', () => {});
  child.stdin.end(lines.join(''));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const stop = async () => {
    child.kill('SIGTERM');
    // A paused process (SIGSTOP) does not react.
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
      // Once Redis serves, its log no longer matters, but must be read so that it never blocks.
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
