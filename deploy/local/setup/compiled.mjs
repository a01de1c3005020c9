import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './redis.mjs';
import { ROOT } from './tree.mjs';

/*
 * Starts services for tests. Tests start hundreds of replicas. Node before 22.8 keeps no compiled code by itself, and
 * spends a third of each start on compiling the same file again: 0.76 s of processor time, and 0.50 s with kept code.
 */

const SERVICES = ['sync', 'broker'];
const FOLDER = join(ROOT, 'dist/compiled');
const COMPILED_MAIN = fileURLToPath(new URL('./compiled-main.mjs', import.meta.url));
const KEPT_BY_NODE = module.enableCompileCache !== undefined;
const READY_WITHIN_MS = 60_000;

const mainOf = (service) => join(ROOT, 'dist/services', service, 'main.js');

/** Returns the built file of a service, and the file of its compiled code, which differs for every build and Node. */
export function compiledOf(service) {
  const bundle = join(ROOT, 'dist/services', service, 'main.cjs');
  const name = `${service}-${process.version}-${statSync(bundle).mtimeMs}`;
  return { bundle, compiled: join(FOLDER, name) };
}

/**
 * Returns the arguments with which Node starts a service of the build. If no compiled code is kept, it is the service's
 * own entry.
 */
export function argumentsToStart(service) {
  const isKept = !KEPT_BY_NODE && existsSync(compiledOf(service).compiled);
  return isKept ? [COMPILED_MAIN, service] : [mainOf(service)];
}

const environmentOf = (redisUrl, port, adminPort) => ({
  sync: {
    ...{ APP_IDENTITY: 'dev', APP_REDIS_URL: redisUrl, APP_KEY_PREFIX: 'compiled', APP_LOG_LEVEL: 'fatal' },
    ...{ APP_PORT: port, APP_ADMIN_PORT: adminPort, APP_DRAIN_SECONDS: '0', APP_DRAIN_TRANSFER_SECONDS: '0' },
  },
  broker: {
    ...{ BROKER_REDIS_URL: redisUrl, BROKER_KEY_PREFIX: 'compiled', BROKER_LOG_LEVEL: 'fatal' },
    ...{ BROKER_PORT: port, BROKER_ADMIN_PORT: adminPort, BROKER_HOST: '127.0.0.1' },
    ...{ BROKER_TOKENS: 'baton:only-to-see-it-start', BROKER_DRAIN_NOTICE_SECONDS: '0' },
  },
});

async function keepOf(service, redisUrl) {
  if (existsSync(compiledOf(service).compiled)) return;
  const [port, adminPort] = [String(await freePort()), String(await freePort())];
  const child = spawn(process.execPath, [COMPILED_MAIN, service, 'keep'], {
    env: { PATH: process.env.PATH, ...environmentOf(redisUrl, port, adminPort)[service] },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  const health = service === 'sync' ? `${adminPort}/readyz` : `${port}/healthz`;
  const isReady = () =>
    fetch(`http://127.0.0.1:${health}`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (child.exitCode === null && Date.now() < giveUpAt && !(await isReady())) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  child.kill('SIGTERM');
  await ended;
}

/** Starts each service once on this Redis and keeps its compiled code, unless that is already there. */
export async function keepCompiled(redisUrl) {
  if (KEPT_BY_NODE) return;
  const wanted = SERVICES.map((service) => compiledOf(service).compiled);
  if (wanted.every((path) => existsSync(path))) return;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  await Promise.all(SERVICES.map((service) => keepOf(service, redisUrl)));
}
