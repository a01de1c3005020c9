import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { installPackages, requireNode } from '../../deploy/local/setup/setup.mjs';
import { ROOT } from '../../deploy/local/setup/tree.mjs';

/*
 * `npm run test:redis-versions`: runs the tests of Sentinel and Cluster, and one minute of faults, on newer servers than the
 * machine's: Redis 8 and Valkey 8 of Debian 13. Their packages are unpacked into dist/servers, beside their own C library,
 * whose loader runs them. Nothing is installed. It needs apt-get, dpkg-deb and Debian's keys; without them it skips.
 */
const SERVERS = [
  { name: 'Redis 8', program: 'redis-server', client: 'redis-cli', packages: ['redis-server', 'redis-tools'] },
  { name: 'Valkey 8', program: 'valkey-server', client: 'valkey-cli', packages: ['valkey-server', 'valkey-tools'] },
];
const LIBRARIES =
  'libatomic1 libc6 libcap2 libgcc-s1 libjemalloc2 liblzf1 libssl3t64 libstdc++6 libsystemd0 libzstd1 zlib1g'.split(
    ' ',
  );
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCE = `deb [signed-by=${KEYS}] http://deb.debian.org/debian trixie main\n`;
const FETCHED_WITHIN_MS = 120_000;

const FOLDER = join(ROOT, 'dist/servers');
const UNPACKED = join(FOLDER, 'root');

/** Runs a program, and throws its output when it fails. */
function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', timeout: FETCHED_WITHIN_MS, ...options });
  if (done.status !== 0) throw new Error(`${command}: ${done.error?.message ?? done.stderr.trim()}`);
}

/** Unpacks all packages once; the folder gets its name when it is complete. */
function fetchPackages() {
  if (existsSync(UNPACKED)) return;
  const work = join(FOLDER, `work-${process.pid}`);
  const at = (path) => join(work, path);
  try {
    for (const path of ['lists/partial', 'cache/archives/partial', 'packages', 'root'])
      mkdirSync(at(path), { recursive: true });
    writeFileSync(at('sources.list'), SOURCE);
    writeFileSync(
      at('apt.conf'),
      `Dir::Etc::sourcelist "${at('sources.list')}";\nDir::Etc::sourceparts "-";\n` +
        `Dir::State::lists "${at('lists')}";\nDir::Cache "${at('cache')}";\nAPT::Sandbox::User "root";\n`,
    );
    const env = { ...process.env, APT_CONFIG: at('apt.conf') };
    run('apt-get', ['update', '-qq'], { env });
    const names = [...SERVERS.flatMap(({ packages }) => packages), ...LIBRARIES];
    run('apt-get', ['download', '-qq', ...names], { env, cwd: at('packages') });
    for (const file of readdirSync(at('packages'))) run('dpkg-deb', ['-x', at(`packages/${file}`), at('root')]);
    renameSync(at('root'), UNPACKED);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns a folder with this server's `redis-server` and `redis-cli`, which goes first on the path. */
function programsOf({ program, client }) {
  const folder = join(FOLDER, program);
  mkdirSync(folder, { recursive: true });
  const libraries = readdirSync(join(UNPACKED, 'usr/lib'))
    .map((name) => join(UNPACKED, 'usr/lib', name))
    .find((path) => existsSync(join(path, 'libjemalloc.so.2')));
  const loader = join(
    libraries,
    readdirSync(libraries).find((name) => /^ld-linux.*\.so\.\d$/.test(name)),
  );
  for (const [name, real] of [
    ['redis-server', program],
    ['redis-cli', client],
  ]) {
    const path = join(folder, name);
    writeFileSync(
      path,
      `#!/bin/sh\nexec '${loader}' --library-path '${libraries}' '${join(UNPACKED, 'usr/bin', real)}' "$@"\n`,
    );
    chmodSync(path, 0o755);
  }
  return folder;
}

/** Runs one of Baton's programs on this server. Shows its output once it has ended, and resolves to its counts. */
function count(name, args, folder) {
  return new Promise((resolve) => {
    const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) };
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const output of [child.stdout, child.stderr]) output.setEncoding('utf8').on('data', (more) => (text += more));
    child.once('close', (code) => {
      const [, passed = 0, failed = 0] =
        /^(\d+) passed, (\d+) failed/m.exec(text.split('\n').toReversed().join('\n')) ?? [];
      process.stdout.write(`== ${name}: ${args.slice(1).join(' ')}\n${text}`);
      resolve({ passed: Number(passed), failed: Number(failed) || (code === 0 ? 0 : 1) });
    });
  });
}

requireNode();
installPackages();
await buildOrExit();
const counts = { passed: 0, failed: 0 };
try {
  fetchPackages();
} catch (error) {
  process.stdout.write(
    `skipped: redis-versions: Redis 8 and Valkey 8 (Debian 13's packages cannot be had: ${error.message})\n0 passed, 0 failed, 1 skipped\n`,
  );
  process.exit(0);
}
/**
 * All faults except those with a wrong clock: libfaketime belongs to the machine's C library, and these servers bring another.
 */
const FAULTS = (
  'kill rolling-restart drain pause-short pause-long cut-mid-frame cut-normal cut-pubsub hole-to-store hole-to-replica latency ' +
  'redis-kill redis-pause redis-lost-tail redis-wipe flushall'
).split(' ');
const RUNS = [
  ['deploy/local/test.mjs', 'test/redis-modes/(cluster|sentinel)\\.test', '--maxWorkers=1'],
  [
    ...['test/chaos/run.mjs', '--minutes', '1', '--devices', '40', '--rate', '15', '--seed', 'versions'],
    ...['--only', FAULTS.join(',')],
  ],
];
// Both wait more than they compute.
for (const args of RUNS) {
  const ended = await Promise.all(SERVERS.map((server) => count(server.name, args, programsOf(server))));
  for (const { passed, failed } of ended) {
    counts.passed += passed;
    counts.failed += failed;
  }
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;
