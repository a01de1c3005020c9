import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Redis } from 'ioredis';
import { startRedis } from '../../deploy/local/setup/redis.mjs';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { bundleReplica, isBundled, restoreBundle } from './replica-bundle.mjs';

const COPIED = ['services', 'shared', 'test', 'deploy', 'dist', 'package.json', 'jest.config.mjs', 'tsconfig.json'];
const LEFT_OUT = new Set(['node_modules', 'screenshots']);
/** Tests of single parts: nothing in this folder starts a replica. */
const UNIT_TESTS = 'test/unit/';
/** A store that does not answer in this time is in an endless loop of a mutant. */
const ANSWERS_WITHIN_MS = 5_000;

/** Resolves to whether the store answers. */
async function answers(url) {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, commandTimeout: ANSWERS_WITHIN_MS });
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

/**
 * Makes a lane: a copy of the checkout with its build and a separate Redis, in which one mutant after the other is tested.
 * Replicas read their scripts from the copy's dist/, and the tests import TypeScript from its sources.
 */
export async function makeLane(redisServer) {
  const root = mkdtempSync(join(tmpdir(), 'baton-mutants-'));
  for (const name of COPIED) {
    cpSync(join(ROOT, name), join(root, name), {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !LEFT_OUT.has(basename(path)),
    });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  let redis = await startRedis({ path: redisServer, detached: true });
  let running = null;

  const write = (file, text) => {
    writeFileSync(join(root, file), text);
    if (file.endsWith('.lua')) writeFileSync(join(root, 'dist', file), text);
  };

  /** Runs the tests until one fails. Resolves to 'passed', 'failed', or 'late' if they did not end in time. */
  function runTests(tests, withinMs) {
    const words = [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      'node_modules/jest/bin/jest.js',
    ];
    const child = spawn(
      process.execPath,
      [...words, '--config', 'test/mutation/jest.config.mjs', '-i', '--runTestsByPath', ...tests],
      {
        cwd: root,
        // It gets its own process group, so that the processes of a killed run end with it.
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('APP_'))),
          APP_TEST_REDIS_URL: redis.url,
          APP_TEST_REDIS_SERVER: redisServer,
        },
      },
    );
    running = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    return new Promise((resolve) => {
      let isLate = false;
      const late = setTimeout(() => {
        isLate = true;
        endGroup(child);
      }, withinMs);
      child.once('exit', (code) => {
        clearTimeout(late);
        endGroup(child);
        running = null;
        resolve({ end: isLate ? 'late' : code === 0 ? 'passed' : 'failed', output });
      });
    });
  }

  return {
    /** Runs the tests on the file with this text, and puts the original back. */
    async tryText({ file, text, original, tests, withinMs }) {
      const bundles = isBundled(file) && tests.some((test) => !test.startsWith(UNIT_TESTS));
      write(file, text);
      try {
        if (bundles) await bundleReplica(root);
        return await runTests(tests, withinMs);
      } finally {
        write(file, original);
        if (bundles) restoreBundle(root);
        if (!(await answers(redis.url))) {
          redis.kill();
          redis = await startRedis({ path: redisServer, detached: true });
        }
      }
    },
    /** Ends a run that is still going. Its result does not count. */
    abandon: () => running !== null && endGroup(running),
    async stop() {
      await redis.stop();
      rmSync(root, { recursive: true });
    },
  };
}

function endGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
