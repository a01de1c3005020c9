import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { EDGE_SECRET } from '../load/wire.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const REPLICA = at('../../../dist/services/sync/main.js');
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 15_000;
/**
 * Limits are counted as usual, and are so high that no run meets one: a few accounts send what thousands otherwise
 * send.
 */
const RATE_LIMIT_SCALE = '100000';

const running = new Set();

/** Ends everything that is still there, at the very end. */
export function killAll() {
  for (const child of running) child.kill('SIGKILL');
}

function start([command, ...args], env) {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, ...env },
    // Only the figures go to standard output.
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Resolves to the next message that has this field. Rejects when the process ends before. */
function answer(child, field) {
  return new Promise((resolve, reject) => {
    const settle = (act) => (value) => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      act(value);
    };
    const onExit = settle((code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}`)));
    const onMessage = (message) => {
      if (message.failed !== undefined) settle(reject)(new Error(message.failed));
      else if (message[field] !== undefined) settle(resolve)(message[field]);
    };
    child.on('message', onMessage);
    child.once('exit', onExit);
  });
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(impatience);
}

const asServer = (child, url) => ({
  url,
  stop: () => stop(child),
  /** It ends without a farewell. */
  async kill() {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  },
  /** Returns microseconds of processor time and bytes of memory; `settle` collects garbage first. */
  look(probe = 'usage') {
    const usage = answer(child, 'usage');
    child.send({ probe });
    return usage;
  },
});

async function untilReady(child, url) {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const ready = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('A replica did not become ready');
}

function replicaEnv({ redisUrl, keyPrefix, port, adminPort }) {
  return {
    APP_IDENTITY: 'edge',
    APP_EDGE_SECRET: EDGE_SECRET,
    APP_TRUSTED_PROXIES: '127.0.0.1',
    APP_HOST: '127.0.0.1',
    APP_REDIS_URL: redisUrl,
    APP_KEY_PREFIX: keyPrefix,
    APP_PORT: String(port),
    APP_ADMIN_PORT: String(adminPort),
    APP_DRAIN_SECONDS: '0',
    APP_RATE_LIMIT_SCALE: RATE_LIMIT_SCALE,
    APP_LOG_LEVEL: 'warn',
  };
}

/** Returns `{ floor, express, classes, baton }`. Each starts one server of its kind. */
export function makeServers({ redisUrl, keyPrefix, pinning, nodeFlags }) {
  const flags = ['--expose-gc', '--import', at('../servers/probe.mjs')];
  const byHand =
    (script, ...words) =>
    async () => {
      const child = start(pinning.command('servers', [...flags, at(script), redisUrl, keyPrefix, ...words]), {});
      return asServer(child, `http://127.0.0.1:${await answer(child, 'port')}`);
    };
  return {
    floor: byHand('../servers/floor-server.mjs'),
    express: byHand('../servers/express-server.mjs'),
    classes: byHand('../servers/express-server.mjs', 'classes'),
    async baton() {
      const [port, adminPort] = [await freePort(), await freePort()];
      const env = replicaEnv({ redisUrl, keyPrefix, port, adminPort });
      const child = start(pinning.command('servers', [...flags, ...nodeFlags, REPLICA]), env);
      await untilReady(child, `http://127.0.0.1:${adminPort}/readyz`);
      return asServer(child, `http://127.0.0.1:${port}`);
    },
  };
}

/** Starts a process that holds clients. `ask` gives it one task at a time and resolves to the result. */
export async function startLoad({ pinning, script = '../load/load.mjs' }) {
  const child = start(pinning.command('load', [at(script)]), {});
  await answer(child, 'started');
  return {
    ask(task, given = {}) {
      const result = answer(child, 'result');
      child.send({ task, given });
      return result;
    },
    stop: () => stop(child),
  };
}
