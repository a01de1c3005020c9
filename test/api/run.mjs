import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { freePort, startRedis } from '../../deploy/local/setup/redis.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { makeScene } from './scene.mjs';

/*
 * `npm run test:api` checks that the OpenAPI document is well formed (redocly) and true (schemathesis), against a replica
 * with the identity `dev` on a separate Redis. It needs Python 3.10 or newer with venv; packages are installed once, in
 * dist/. Further arguments go to schemathesis: `npm run test:api -- --include-operation-id sendMessage`.
 */
const HERE = join(ROOT, 'test/api');
const READY_WITHIN_MS = 30_000;
const RUN_WITHIN_MS = 180_000;

function run(command, args, { env = {}, timeout = RUN_WITHIN_MS, stdio = 'inherit' } = {}) {
  const done = spawnSync(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio,
    timeout,
    encoding: 'utf8',
  });
  if (done.error) process.stderr.write(`${command}: ${done.error.message}\n`);
  return done.status === 0;
}

/** Returns the folder of programs of a virtual environment with exactly the pinned packages. */
function installPython() {
  const requirements = join(HERE, 'requirements.txt');
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(ROOT, 'dist', `python-${hash}`);
  const programs = join(folder, 'bin');
  const stamp = join(folder, 'complete');
  if (existsSync(stamp)) return programs;
  rmSync(folder, { recursive: true, force: true });
  process.stderr.write('Installing schemathesis; this can take a minute.\n');
  const pip = ['install', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  const isInstalled =
    run('python3', ['-m', 'venv', folder]) && run(join(programs, 'pip'), [...pip, '--requirement', requirements]);
  if (!isInstalled) throw new Error('schemathesis could not be installed: python3 with venv and pip are needed');
  writeFileSync(stamp, '');
  return programs;
}

async function startReplica(redisUrl) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [join(ROOT, 'dist/services/sync/main.js')], {
    env: {
      PATH: process.env.PATH,
      APP_IDENTITY: 'dev',
      APP_REDIS_URL: redisUrl,
      APP_PORT: String(port),
      APP_ADMIN_PORT: String(adminPort),
      APP_DRAIN_SECONDS: '0',
      APP_DRAIN_TRANSFER_SECONDS: '0',
      APP_RATE_LIMIT_SCALE: '0',
      APP_LOG_LEVEL: 'error',
    },
    // The channel makes it end with this process.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const stop = () =>
    new Promise((resolve) => {
      child.once('close', resolve);
      child.kill('SIGTERM');
    });
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const isReady = await fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return { url: `http://127.0.0.1:${port}`, stop };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill('SIGKILL');
  throw new Error('The replica did not become ready');
}

/** Returns the counts from the report that schemathesis wrote. Every operation is a test. */
function countsOf(report) {
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const attributes = /<testsuite [^>]*>/.exec(readFileSync(report, 'utf8'))?.[0] ?? '';
  const numberOf = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(attributes)?.[1] ?? 0);
  const failed = numberOf('failures') + numberOf('errors');
  return { passed: numberOf('tests') - numberOf('skipped') - failed, failed };
}

requireNode();
installPackages();
const redisServer = requireRedisServer('APP_REDIS_URL');
await buildOrExit();
const programs = installPython();
const folder = mkdtempSync(join(tmpdir(), 'baton-api-'));
const redis = await startRedis({ path: redisServer });
const counts = { passed: 0, failed: 0 };
const add = ({ passed, failed }) => {
  counts.passed += passed;
  counts.failed += failed;
};
try {
  const replica = await startReplica(redis.url);
  const document = join(folder, 'openapi.json');
  writeFileSync(document, await (await fetch(`${replica.url}/api/openapi.json`)).text());

  const lint = ['lint', document, '--config', join(HERE, 'redocly.yaml'), '--format', 'stylish'];
  // Otherwise it would ask the network for a newer version, and tell its makers that it ran.
  const silent = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  add(
    run(join(ROOT, 'node_modules/.bin/redocly'), lint, { env: silent })
      ? { passed: 1, failed: 0 }
      : { passed: 0, failed: 1 },
  );

  const report = join(folder, 'report.xml');
  const args = ['--config-file', join(HERE, 'schemathesis.toml'), '--no-color', 'run', document, '--url', replica.url];
  const isGood = run(
    join(programs, 'schemathesis'),
    [...args, '--report', 'junit', '--report-junit-path', report, ...process.argv.slice(2)],
    { env: { API_TEST_SCENE: JSON.stringify(await makeScene(replica.url)), PYTHONDONTWRITEBYTECODE: '1' } },
  );
  const found = countsOf(report);
  add(isGood || found.failed > 0 ? found : { ...found, failed: 1 });
  await replica.stop();
} finally {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;
