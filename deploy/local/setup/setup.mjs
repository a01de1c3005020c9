import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from './tree.mjs';
import { takeTurn } from './turn.mjs';

/*
 * Prepares a bare checkout for building and running. This file is imported before anything is installed, and by any Node.
 * So it uses no packages and no recent syntax. Each step reports on stderr. If it fails, it says what to do and exits
 * with 1.
 */

const REDIS_MAJOR = 7;

const say = (text) => process.stderr.write(`${text}\n`);

function giveUp(text) {
  say(text);
  process.exit(1);
}

/** Exits unless `engines` in package.json allows this Node. */
export function requireNode() {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(readJson('package.json').engines.node).map(Number);
  const [haveMajor, haveMinor] = process.versions.node.split('.').map(Number);
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return;
  giveUp(`Baton needs Node ${major}.${minor} or newer; this is Node ${process.versions.node} (${process.execPath}).`);
}

const readJson = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

/** Runs a command quietly. Its output is shown only if the command failed and `mayFail` is false. */
function runQuietly(command, args, { env = {}, mayFail = false } = {}) {
  const done = spawnSync(command, args, { cwd: ROOT, env: { ...process.env, ...env }, encoding: 'utf8' });
  if (done.status === 0) return true;
  if (mayFail) return false;
  say(
    `${command} ${args.join(' ')} failed:\n${done.error ? done.error.message : `${done.stdout}${done.stderr}`.trimEnd()}`,
  );
  return false;
}

/**
 * Compares what npm has installed with package-lock.json. Optional packages are those of other platforms. File times do
 * not help: a checkout of another commit may be older or newer than what is installed.
 */
function packagesAreInstalled() {
  const lock = 'package-lock.json';
  const installed = 'node_modules/.package-lock.json';
  if (!existsSync(join(ROOT, installed))) return false;
  if (!existsSync(join(ROOT, lock))) return true;
  const have = readJson(installed).packages;
  return Object.entries(readJson(lock).packages).every(
    ([path, wanted]) =>
      path === '' || wanted.optional || wanted.devOptional || (have[path] && have[path].version === wanted.version),
  );
}

/** Installs the packages of package-lock.json, unless they are installed. */
export function installPackages() {
  if (packagesAreInstalled()) return;
  const endTurn = takeTurn();
  try {
    if (!packagesAreInstalled()) install();
  } finally {
    endTurn();
  }
}

function install() {
  say('Installing packages; this can take a minute.');
  // npm tells its scripts where it is. Without npm (this file was started by hand) the one on PATH is used.
  const npm = process.env.npm_execpath || '';
  const [command, first] = npm.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []];
  const quiet = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  // Installs only what the lock names. Another command would take newer packages and rewrite the lock.
  if (runQuietly(command, [...first, 'ci', ...quiet])) return;
  giveUp(
    'The packages that package-lock.json names could not be installed (npm ci), and no others are installed instead.\n' +
      '  If the registry was not reached: look at the network, and at `npm config get registry` and `npm config get proxy`.\n' +
      '  If package.json and the lock differ: git checkout package.json package-lock.json\n' +
      'Then start it again.',
  );
}

function findOnPath(name) {
  // Package managers may put servers where the PATH of an ordinary user does not lead.
  const folders = [...(process.env.PATH || '').split(delimiter), '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'];
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(existsSync);
}

/**
 * Returns `{path, version, usable}` of this machine's redis-server; null when there is none. `usable` tells whether it is new
 * enough.
 */
export function findRedisServer() {
  const path = findOnPath('redis-server');
  if (path === undefined) return null;
  const [, version = 'unknown', major = '0'] =
    /\bv=((\d+)[\d.]*)/.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout) || [];
  return { path, version, usable: Number(major) >= REDIS_MAJOR };
}

/**
 * Ways to install redis-server, the system's own first. `refresh` is for a package list that was never fetched or is too
 * old. Debian's package also starts a Redis of the system on port 6379, which is neither used nor touched.
 */
const INSTALLERS = [
  {
    command: 'apt-get',
    install: ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '-qq', '--no-install-recommends', 'redis-server'],
    refresh: ['-o', 'DPkg::Lock::Timeout=120', 'update', '-qq'],
    byHand: 'sudo apt-get install redis-server',
  },
  { command: 'dnf', install: ['install', '-y', '-q', 'redis'], byHand: 'sudo dnf install redis' },
  { command: 'apk', install: ['add', '-q', 'redis'], refresh: ['update', '-q'], byHand: 'sudo apk add redis' },
  { command: 'brew', install: ['install', '-q', 'redis'], byHand: 'brew install redis', asUser: true },
];

/** Returns the words that make a command run as root without a question; null when that is not possible. */
function asRoot() {
  if (process.getuid() === 0) return [];
  const sudo = findOnPath('sudo') !== undefined && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  return sudo ? ['sudo', '-n', 'env', 'DEBIAN_FRONTEND=noninteractive'] : null;
}

function installRedis(installer) {
  const before = installer.asUser ? [] : asRoot();
  if (before === null) return;
  say(`Installing redis-server with ${installer.command}.`);
  const runAsRoot = (args, mayFail = false) => {
    const [command, ...rest] = [...before, installer.command, ...args];
    return runQuietly(command, rest, { env: { DEBIAN_FRONTEND: 'noninteractive' }, mayFail });
  };
  if (runAsRoot(installer.install, installer.refresh !== undefined) || installer.refresh === undefined) return;
  // Usually the package list was never fetched, or names versions that are gone.
  if (runAsRoot(installer.refresh)) runAsRoot(installer.install);
}

/** Returns the path of a redis-server that is new enough. Installs one when there is none and this user may. */
export function requireRedisServer(insteadKey) {
  const installer = INSTALLERS.find(({ command }) => findOnPath(command) !== undefined);
  if (findRedisServer() === null && installer !== undefined) installRedis(installer);
  const found = findRedisServer();
  if (found !== null && found.usable) return found.path;
  const lacking = found === null ? 'it is not installed' : `${found.path} is ${found.version}`;
  const byHand =
    found === null && installer !== undefined
      ? installer.byHand
      : 'https://redis.io/docs/latest/operate/oss_and_stack/install/';
  return giveUp(
    `Baton needs redis-server ${REDIS_MAJOR}.0 or newer, and ${lacking}. Either\n` +
      `  install it:  ${byHand}\n` +
      `  or name one that runs:  ${insteadKey}=redis://host:6379`,
  );
}
