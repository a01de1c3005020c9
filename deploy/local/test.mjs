import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buildOrExit } from '../build/build.mjs';
import { keepCompiled } from './setup/compiled.mjs';
import { startRedis } from './setup/redis.mjs';
import { findRedisServer, installPackages, requireNode, requireRedisServer } from './setup/setup.mjs';
import { ROOT } from './setup/tree.mjs';

/*
 * `npm test`: every test that this machine can run, against real replicas (from dist/) and one real Redis.
 * Further arguments go to jest: `npm test -- messages`, `npm test -- -t 'a sentence'`.
 *
 * The tests find APP_TEST_REDIS_URL, the Redis that all files share (nothing in it may be flushed), and
 * APP_TEST_REDIS_SERVER, the program for tests that need their own Redis.
 */

requireNode();
installPackages();
const given = process.env.APP_TEST_REDIS_URL;
const redisServer = given ? findRedisServer()?.path : requireRedisServer('APP_TEST_REDIS_URL');
await buildOrExit();

// Settings of a replica in this shell must not reach the tests.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([key]) => !key.startsWith('APP_') || key.startsWith('APP_TEST_')),
);
const redis = given ? null : await startRedis({ path: redisServer, detached: true });
if (redis !== null) {
  env.APP_TEST_REDIS_URL = redis.url;
  await keepCompiled(redis.url);
}
if (redisServer !== undefined) env.APP_TEST_REDIS_SERVER = redisServer;

const jest = spawn(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(ROOT, 'node_modules/jest/bin/jest.js'),
    ...process.argv.slice(2),
  ],
  { cwd: ROOT, env, stdio: 'inherit' },
);
process.on('exit', () => redis?.kill());
// A Ctrl-C of the terminal reaches jest too; it ends by itself, and this process after it.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => jest.kill(signal));
jest.once('exit', (code) => {
  process.exitCode = code ?? 1;
  void redis?.stop();
});
